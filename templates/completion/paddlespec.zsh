#compdef paddlespec
# Completion of paddlespec in zsh: source <(paddlespec completion zsh), after compinit
_paddlespec() {
    local line word
    local -a answer described space
    answer=("${(@f)$("${(Q)words[1]}" __complete zsh "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2> /dev/null)}")
    for line in "${answer[@]}"; do
        case $line in
            '' | :files | :folders) ;;
            :nospace) space=(-S '') ;;
            *)
                word=${line%%$'\t'*}
                described+=("${word//:/\\:}${${line#$word}/$'\t'/:}")
                ;;
        esac
    done
    local status_=1
    (( $#described )) && _describe -V paddlespec described "${space[@]}" && status_=0
    (( ${answer[(I):files]} )) && _files && status_=0
    (( ${answer[(I):folders]} )) && _files -/ && status_=0
    return $status_
}
if [[ ${funcstack[1]} == _paddlespec ]]; then
    _paddlespec "$@"
else
    compdef _paddlespec paddlespec
fi
