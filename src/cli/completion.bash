# Completion of tarn's commands and options for bash; names of files are left to the shell. The
# words are what `tarn help` tells, so that there is no second list of them.
_tarn() {
  local program=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} words=
  COMPREPLY=()
  if ((COMP_CWORD == 1)) || [[ ${COMP_WORDS[1]} == help && COMP_CWORD -eq 2 ]]; then
    # "  run                         run a deck into a folder", below "Subcommands:"
    words=$("$program" help 2>/dev/null | sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p')
    ((COMP_CWORD == 1)) && words+=" help --help --version"
  elif [[ $current == -* ]]; then
    # "  -o,--out TEXT REQUIRED      file to write"
    words=$("$program" help "${COMP_WORDS[1]}" 2>/dev/null |
      sed -n 's/^  \(-[^ ]*\).*/\1/p' | tr ',' '\n')
  fi
  [[ -n $words ]] && mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  return 0
}
complete -o bashdefault -o default -F _tarn tarn
