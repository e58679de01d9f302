import os, socket, time


def is_up(host, ports):
    failures = []
    for port in ports.split("|"):
        try:
            socket.create_connection((host, int(port)), 5).close()
            return ""
        except (OSError, socket.error) as error:
            failures.append(str(error))
    return failures[0]


for address in os.environ["PADDLESPEC_WAIT_FOR"].split(","):
    host, ports = address.rsplit(":", 1)
    told = False
    while True:
        failure = is_up(host, ports)
        if not failure:
            print(address + " is up")
            break
        if not told:
            print("waiting for " + address + ": " + failure)
        told = True
        time.sleep(1)
