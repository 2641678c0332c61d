# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

# complete.zsh FOLDER LINE: the words that an interactive zsh lists at the end of a
# line, one in a line. FOLDER holds completion functions.

export TERM=xterm # not what the caller has, which may be nothing
zmodload zsh/zpty
zpty shell zsh -f -i
{
	# await TEXT: reads what the shell prints up to a text, into out.
	await() { zpty -r shell out "*$1*" }
	zpty -w shell "PS1=; unsetopt prompt_cr prompt_sp; stty cols 400 rows 400; LISTMAX=1000; fpath=($1 \$fpath)
autoload -Uz compinit; compinit -u -D; zstyle ':completion:*' verbose no; setopt no_beep
mark() { print -r -- MARK'.HERE' }; zle -N mark; bindkey '^X' mark; bindkey '^I' list-choices
print -r -- READY'.HERE'"
	await 'READY.HERE'
	zpty -w -n shell $'\C-x'
	await 'MARK.HERE'
	zpty -w -n shell "$2"$'\t\C-x'
	await 'MARK.HERE'
	# The list is between "erase below" and the line, which is drawn again.
	[[ $out == *$'\e[J'* ]] || exit 0
	print -r -- ${${out#*$'\e[J'}%$'\r'${(b)2% }*} | sed 's/\x1b\[[0-9;?]*[A-Za-z]//g' | tr -s ' \r' '\n\n' | sed '/^$/d'
} always {
	zpty -d shell
}
