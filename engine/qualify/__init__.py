"""The built-in qualification: does the engine give the same answers whichever way a prompt is cut?

`run.run_qualification` is the way in. It starts four fresh processes in the order A B B A (A and B differ in the step
cap), each of which reads frozen tapes of four domains; then sparse against exact, then retrieval of keys. `statistics`
compares, `judge` applies limits that were fixed before, `history` keeps every report, failures included.
"""
