import os, socket, time
for address in os.environ["PADDLESPEC_WAIT_FOR"].split(","):
    host, port = address.rsplit(":", 1)
    told = False
    while True:
        try:
            socket.create_connection((host, int(port)), 5).close()
            print(address + " is up")
            break
        except (OSError, socket.error) as error:
            if not told:
                print("waiting for " + address + ": " + str(error))
            told = True
            time.sleep(1)
