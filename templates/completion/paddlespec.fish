# Completion of paddlespec in fish: paddlespec completion fish | source
function __paddlespec_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] __complete fish $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path "$current"
            case :folders
                __fish_complete_directories "$current"
            case :nospace
            case '*'
                echo $line
        end
    end
end
complete -c paddlespec -f -a '(__paddlespec_complete)'
