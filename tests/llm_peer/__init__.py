"""The parts of the test peer. `tests/llm_server.py` is the door: import from there.

wire.py     HTTP/1.1 over asyncio, as little of it as clients here speak
ledger.py   a row for each request the peer saw, readable by other processes
faults.py   what is to go wrong, and for which requests
answers.py  what the pretended model says
files.py    what is uploaded, and what batches leave behind
batch.py    one batch: its lines, its status, what is wrong with it
batches.py  all batches, and the clock or the test that moves them
api.py      the endpoints a client calls
control.py  the endpoints a test or benchmark calls, and a client for them
server.py   puts the parts together and answers connections
"""
