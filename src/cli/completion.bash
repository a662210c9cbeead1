# Bash completion of tarn's commands, options, deck keys and their values, taken from `tarn help` and
# `tarn check --reference`. The shell completes file names.

# The keys of the sections, or the choices of key $2: those of the row "| `key` | "all" or ... |", or of
# the list "- `key`" below the table.
_tarn_keys() {
  "$1" check --reference 2>/dev/null | awk -F'|' -v wanted="${2-}" '
    /^## `?\[/ { gsub(/[`#\[\] ]/, ""); section = $0 }
    /^- `[a-z]/ { gsub(/[-` ]/, ""); list = section "." $0 }
    /^  - `"/ && list == wanted { split($0, part, "\""); print part[2] }
    /^\| `[a-z]/ && section != "" {
      gsub(/[` ]/, "", $2)
      if (wanted == "") print section "." $2
      if (wanted != section "." $2) next
      if ($3 ~ /true or false/) print "true\nfalse"
      for (n = split($3, part, "\""); n > 1; n -= 2) if (part[n - 1] !~ /:/) print part[n - 1]
    }' | awk '!seen[$0]++'
}

_tarn() {
  local program=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} words='' i=$((COMP_CWORD - 1))
  COMPREPLY=()
  # The shell takes the equals sign of --set key=value as a word.
  local key=''
  [[ $current == '=' ]] && current='' i=$COMP_CWORD
  if [[ ${COMP_WORDS[i]} == '=' ]]; then
    i=$((i - 1))
    [[ ${COMP_WORDS[i]} == -* ]] || key=${COMP_WORDS[i]}
  fi
  if ((COMP_CWORD == 1)) || [[ ${COMP_WORDS[1]} == help && COMP_CWORD -eq 2 ]]; then
    # "  run                         run a simulation", below "Subcommands:"
    words=$("$program" help 2>/dev/null | sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p')
    ((COMP_CWORD == 1)) && words+=" help --help --version"
  elif [[ -n $key ]]; then
    words=$(_tarn_keys "$program" "$key")
  elif [[ ${COMP_WORDS[i]} == --set || ${COMP_WORDS[i]} == --unset ]]; then
    words=$(_tarn_keys "$program")
    if [[ ${COMP_WORDS[i]} == --set ]]; then
      words=${words//$'\n'/=$'\n'}=
      compopt -o nospace 2>/dev/null
    fi
  elif [[ ${COMP_WORDS[i]} == --model ]]; then
    words=$(_tarn_keys "$program" system.model)
  elif [[ ${COMP_WORDS[i]} == --device ]]; then
    words=$(_tarn_keys "$program" run.device)
  elif [[ ${COMP_WORDS[i]} == --schemes ]]; then
    words=$(_tarn_keys "$program" integrator.scheme)
    [[ $current == *,* ]] && words=${current%,*},${words//$'\n'/$'\n'${current%,*},}
  elif [[ ${COMP_WORDS[1]} == models && $current != -* ]]; then
    words=$(_tarn_keys "$program" system.model)
  elif [[ $current == -* ]]; then
    # "  -o,--out TEXT REQUIRED      output file"
    words=$("$program" help "${COMP_WORDS[1]}" 2>/dev/null |
      sed -n 's/^  \(-[^ ]*\).*/\1/p' | tr ',' '\n')
  fi
  [[ -n $words ]] && mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  return 0
}
complete -o bashdefault -o default -F _tarn tarn
