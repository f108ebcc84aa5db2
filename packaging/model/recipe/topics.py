"""The words that scripts and needles are built from, written for this purpose: what the teacher's talk is about.

Data only, most of it in words.json. Openers steer the teacher to the short, ordinary questions that people try first.
"""

import json
from pathlib import Path

_WORDS = json.loads(Path(__file__).with_name("words.json").read_text("utf-8"))
TOPICS, PLACES, THINGS, NAMES, COLOURS = (
    tuple(_WORDS[kind]) for kind in ("topics", "places", "things", "names", "colours")
)

# The teacher goes on from these; {topic} and {place} are filled in. One that ends with a mark is a whole message.
OPENERS = (
    *(
        "",
        "",
        "",
        "What is",
        "What are",
        "What is the",
        "Why",
        "Why do",
        "How",
        "How do I",
        "How does",
        "Who",
        "Who was",
    ),
    *("When", "Where", "Can you", "Could you", "Tell me", "Explain", "Describe", "Give me", "I need", "I want to"),
    *(
        "I am",
        "My",
        "Is it",
        "Are there",
        "Do people",
        "Should I",
        "Which",
        "Name",
        "List",
        "Write",
        "Write a short",
        "Help me",
    ),
    *("Please", "Suggest", "Compare", "What does", "What happens", "Imagine", "Summarize", "Translate", "Define"),
    *(
        "What do you know about {topic}?",
        "Tell me about {topic}.",
        "Explain {topic} in simple words.",
        "Why does {topic} matter?",
    ),
    *("Give me three facts about {topic}.", "Write a short poem about {topic}.", "Write a short story about {topic}."),
    *("What should I know about {topic}?", "How did {topic} change the world?", "List five words about {topic}."),
    *("Give me one interesting fact about {topic}.", "Describe {topic} in one sentence.", "Who studies {topic}?"),
    *("What is the capital of {place}?", "Tell me about {place}.", "What food is {place} known for?"),
    *("Where is {place}?", "What language do people speak in {place}?", "What should I see in {place}?"),
    *("Hello!", "Hi, how are you?", "Good morning!", "Thank you!", "Hi there. Can you help me?", "What can you do?"),
    *("How can I sleep better?", "How can I learn to cook?", "How can I save money?", "What should I read next?"),
    *("Give me an idea for dinner.", "How do I write a good letter?", "How do I stay healthy?", "Tell me a joke."),
)

# Needles: (what is asked, how the fact is told, how it is asked for, how it is answered).
FACTS = (
    (
        "The code for the {thing} is {value}.",
        "What is the code for the {thing}?",
        "The code for the {thing} is {value}.",
    ),
    ("The {thing} has the number {value}.", "Which number has the {thing}?", "The {thing} has the number {value}."),
    ("The password of the {thing} is {value}.", "What is the password of the {thing}?", "The password is {value}."),
    (
        "{name} paid {value} coins for the {thing}.",
        "How much did {name} pay for the {thing}?",
        "{name} paid {value} coins.",
    ),
    ("{name} keeps the {thing} in room {value}.", "In which room does {name} keep the {thing}?", "In room {value}."),
    ("The favourite colour of {name} is {colour}.", "What is the favourite colour of {name}?", "It is {colour}."),
    ("{name} lives in {place}.", "Where does {name} live?", "{name} lives in {place}."),
)
