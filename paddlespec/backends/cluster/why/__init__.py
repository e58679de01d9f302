"""
Explain why a job is not running, or why it failed: one sentence, with evidence.

Each module recognizes one cause. If the cluster does not report a cause, none is shown: a wrong
guess costs more than silence. Server messages may quote user input, including secrets, so only
names and numbers in known formats are copied from them.
"""
