# Bash completion of tarn's commands and options, taken from `tarn help`. The shell completes file
# names.
_tarn() {
  local program=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} words=
  COMPREPLY=()
  if ((COMP_CWORD == 1)) || [[ ${COMP_WORDS[1]} == help && COMP_CWORD -eq 2 ]]; then
    # "  run                         run a simulation", below "Subcommands:"
    words=$("$program" help 2>/dev/null | sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p')
    ((COMP_CWORD == 1)) && words+=" help --help --version"
  elif [[ $current == -* ]]; then
    # "  -o,--out TEXT REQUIRED      output file"
    words=$("$program" help "${COMP_WORDS[1]}" 2>/dev/null |
      sed -n 's/^  \(-[^ ]*\).*/\1/p' | tr ',' '\n')
  fi
  [[ -n $words ]] && mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  return 0
}
complete -o bashdefault -o default -F _tarn tarn
