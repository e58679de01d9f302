"""
Why a job does not run, or failed: one sentence, and what shows it.

Each file knows one cause. Where a cluster does not say the cause, nothing is said: a guess costs
more than silence. Texts of the server quote what people wrote, secrets included; of them only names
and numbers pass whose form is known.
"""
