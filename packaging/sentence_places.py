"""Where the sentences of packaging/sentence_finder.py are: which calls say them, and which of them are left in English.

Data only. A new error or record whose words the window shows is named here, or nothing finds them.
"""

# What is not shown in the window: only the command line uses it, or it writes its own words with Qt's translations.
LEFT_OUT = {
    "app/commands": "says it in the terminal",
    "engine/convert.py": "haloband convert",
    "engine/new_file.py": "haloband convert and haloband synth",
    "engine/synth": "haloband synth, and addresses that are typed",
    "engine/backends/kernel_report.py": "haloband kernels",
    "engine/qualify/freeze.py": "freezes tapes, by hand",
    "engine/qualify/retrieval.py": "texts for the model",
}
ERRORS = (
    "UserError", "ModelFileError", "ContextFullError", "SnapshotError", "EngineError", "StoreError", "SettingsError",
    "MissingRowError", "KernelUnavailableError",
)  # fmt: skip
# Errors that put their sentence together themselves, from what they are given.
SELF_WORDED = frozenset({"KernelBuildError", "KernelLaunchError"})
# The callee, and which of its arguments are words: by place and by name.
SINKS: dict[str, tuple[tuple[int, str], ...]] = {
    **{name: ((0, "message"),) for name in ERRORS},
    "ErrorText": ((0, "message"),),
    "Finding": ((2, "title"), (4, "found"), (5, "wanted"), (6, "advice")),
    "Check": ((0, "rule"), (4, "text")),
    "NoGpu": ((0, "reason"),),
    "Case": ((7, "variant"),),
    "Comparison": ((0, "test"),),
    "ArmDied": ((0, ""),),
    "make_report": ((6, "failure"),),
    "OpenedDatabase": ((1, "warning"),),
    "problems.append": ((0, ""),),
    "reasons.append": ((0, ""),),
    "GpuBackend": ((3, "note"),),
    "NativeUnavailable": ((0, "reason"),),
    "passed_over.append": ((0, ""),),
}
NOTES = frozenset({"native_note"})  # attributes that are given words: which kernels run
# Values that are words and stay English: names of things inside a file, in sentences that hardly anyone will see.
FRAGMENTS = {
    "the model's shape does not fit together: {complaint}": "which sizes of a damaged header contradict each other",
    "the GPU kernels do not fit this model: {obstacle}": "which widths the kernels are not made for",
    "Between processes {name} and {name2} changed: {changed}.": "names of a report's fields",
    "{native_note:w}; decodes layer by layer: {misfit:w}": "which widths or types the compiled call does not take",
    "{name} ends in {suffix:w}; a benchmark is saved as .json, .csv or .md.": "of a name without a suffix",
}
NUMBERS = frozenset({"size_text", "seconds_text"})  # functions that give a number with its unit
WORDS = frozenset({"reason", *NOTES})  # attributes that hold words
SAME_WORDS = frozenset({"removesuffix", "strip", "lower"})  # methods of a text that leave it what it says
