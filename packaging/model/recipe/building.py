"""The second stage: from conversations to a vocabulary and packed sequences, in shards that do not need one another."""

import os
import random
import time
from itertools import islice

from recipe.basics import basic_conversations, trained_questions
from recipe.conversations import read_conversations, write_conversations
from recipe.dataset import Sequences, pack, pack_chats, phase_examples
from recipe.examination import examined_conversations
from recipe.filters import words
from recipe.processes import call_all
from recipe.vocabulary import Vocabulary, train_vocabulary
from recipe.work import Work, report
from recipe.written import written_conversations, written_questions

from engine.model_source import open_model

_HELD_OUT_SEQUENCES = 128  # enough for a validation loss, few enough for a second's work
_VOCABULARY_CONVERSATIONS = 120_000  # about 60 MB; more would change few of the merges
_SHARDS_APART = 1000  # seeds of two phases' shards differ


def build(work: Work) -> None:
    """Hold some conversations out, train the vocabulary on the others, and pack every phase's sequences."""
    settings, began = work.settings, time.monotonic()
    if not work.training.exists() or not work.held_out.exists():
        _split(work)
    if work.start is not None:
        Vocabulary.from_gguf(open_model(work.start)).write(work.vocabulary)
    if not work.vocabulary.exists():
        first = islice(read_conversations(work.training), _VOCABULARY_CONVERSATIONS)
        train_vocabulary((text for one in first for text in one.texts), settings.shape.vocab).write(work.vocabulary)
    phases = range(len(settings.training.phases))
    missing = [(n, shard) for n in phases for shard, path in enumerate(work.sequences(n)) if not path.exists()]
    if settings.sampling.workers and missing:
        call_all(_pack_shard, [(work, *shard) for shard in missing], os.cpu_count() or 1)
    else:
        for number, shard in missing:
            _pack_shard(work, number, shard)
    _pack_held_out(work)
    report("build", began, tokens=[sum(Sequences.read(path).ids.numel() for path in work.sequences(n)) for n in phases])


def _split(work: Work) -> None:
    """Every n-th conversation is held out, in the order they were sampled. Equal conversations count once, and those of
    the examination not at all.

    Basics and written chats are trained on only, and lie among the others: what is held out is the teacher's. What they
    answer the teacher answers otherwise and often wrongly, so those chats of its own are not trained on.
    """
    found = (one for path in sorted(work.texts.glob("*.jsonl")) for one in read_conversations(path))
    examined = frozenset(examined_conversations())
    conversations = [one for one in dict.fromkeys(found) if one not in examined]
    every, random_ = round(1 / work.settings.held_out), random.Random(work.settings.seed)
    write_conversations(work.held_out, conversations[::every])
    answered = {tuple(words(question)) for question in trained_questions() | written_questions()}
    training = (one for number, one in enumerate(conversations) if number % every)
    kept = [one for one in training if answered.isdisjoint(tuple(words(question)) for question in one.turns[0::2])]
    count = len(kept)
    kept += basic_conversations(random_, round(work.settings.basics * count))
    kept += written_conversations(random_, round(work.settings.written * count))
    random_.shuffle(kept)
    write_conversations(work.training, kept)


def _pack_shard(work: Work, number: int, shard: int) -> None:
    """One shard's sequences of one phase, from its own part of the conversations."""
    settings, vocabulary = work.settings, Vocabulary.read(work.vocabulary)
    phase, seed = settings.training.phases[number], settings.seed + _SHARDS_APART * number + shard
    conversations = list(islice(read_conversations(work.training), shard, None, settings.shards))
    found = phase_examples(conversations, vocabulary.tokenizer(), phase.length, phase.mixture, seed)
    pack(found, phase.length, vocabulary.pad, seed).write(work.sequences(number)[shard])


def _pack_held_out(work: Work) -> None:
    """Some held-out conversations at the first phase's length, for the loss that is logged."""
    vocabulary, length = Vocabulary.read(work.vocabulary), work.settings.training.phases[0].length
    packed = pack_chats(read_conversations(work.held_out), vocabulary, length, work.settings.seed)
    first = slice(_HELD_OUT_SEQUENCES)
    Sequences(packed.ids[first], packed.weights[first]).write(work.held_out_sequences)
