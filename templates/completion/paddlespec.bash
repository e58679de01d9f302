# Completion of paddlespec in bash: source <(paddlespec completion bash)
_paddlespec() {
    local line current=${COMP_WORDS[COMP_CWORD]}
    [[ $current == [:=] ]] && current=
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
            :files)
                compopt -o filenames
                while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
                ;;
            :folders)
                compopt -o filenames
                while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$current")
                ;;
            :nospace) compopt -o nospace ;;
            *) COMPREPLY+=("$line") ;;
        esac
    done < <("${1/#\~/$HOME}" __complete bash "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2> /dev/null)
}
complete -F _paddlespec paddlespec
