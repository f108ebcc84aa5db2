"""What the GUI thread and the engine's worker thread say to each other: small frozen records, nothing else crosses.

Requests (requests.py) go to `EngineHost` (app/engine_host.py) on the GUI thread, which hands them to `EngineWorker` by
queued signal; events (events.py) come back through one signal, `EngineHost.event_arrived`. Every job has an id, an
answer also has its conversation's id; an event of a finished job never arrives. Stopping is a threading.Event, never a
queued request.
"""
