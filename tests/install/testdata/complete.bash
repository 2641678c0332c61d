# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

# complete.bash FOLDER WORD...: the words that bash offers in place of the last one,
# as it calls the completion function of the first, from a file of that name.

source "$1/$2"
shift
compopt() { :; } # which bash only has while it completes
[[ $(complete -p "$1") =~ -F\ ([a-z_]+) ]] || exit 1
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
"${BASH_REMATCH[1]}" "$1" "${@: -1}" "${@: -2:1}"
((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}"
