from pipewright._start import main

main()
