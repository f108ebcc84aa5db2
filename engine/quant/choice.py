"""Which number format each tensor of a model is in, also where a type id has several meanings (ds4-architecture 7.5).

Such an id is settled once for each family of tensors (the same matrix of every layer), from a few layers' weights or by
the person's word. Called while loading, converting and inspecting; the findings are sentences to be shown.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from engine.errors import ModelFileError
from engine.gguf.types import AMBIGUOUS_TYPES
from engine.names import family
from engine.quant.codecs import CODECS, Ambiguous, Codec, codec_for
from engine.quant.infer import Choice, choose_codec, infer_codec
from engine.tensor_source import StoredTensor, TensorSource

NO_CHOICES: Mapping[int, str] = MappingProxyType({})


class FormatChoice:
    """The codecs of one source. `reasons` has one sentence for each family whose type id has several meanings.

    `read_as` gives codec names for type ids and wins over what the file declares; the others are inferred. Raises
    ModelFileError in one sentence where the weights do not tell, or tell two things.
    """

    def __init__(self, source: TensorSource, read_as: Mapping[int, str] = NO_CHOICES) -> None:
        self._source = source
        self._codecs: dict[tuple[int, str], Codec] = {}
        reasons = []
        for (type_id, kind), members in _families(source).items():
            wanted = read_as.get(type_id) or source.declared_formats.get(kind)
            choice = self._choose(members[0], wanted) if wanted else self._infer(members)
            self._codecs[type_id, kind] = choice.codec
            reasons.append(f"{kind}: {choice.reason}")
        self.reasons = tuple(reasons)

    def codec(self, tensor: StoredTensor) -> Codec:
        """The tensor's format. Raises ModelFileError naming the tensor where it cannot be read."""
        if tensor.type_id in AMBIGUOUS_TYPES:
            return self._codecs[tensor.type_id, family(tensor.name)]
        try:
            return codec_for(tensor.type_id)
        except ModelFileError as error:
            raise ModelFileError(f"{self._source.name}: tensor {tensor.stored_as}: {error}") from None

    def name(self, tensor: StoredTensor) -> str:
        """What the tensor's format is called, also where it cannot be decoded."""
        found = self._codecs.get((tensor.type_id, family(tensor.name)))
        return found.name if found else tensor.type_name

    def _choose(self, tensor: StoredTensor, wanted: str) -> Choice:
        try:
            return choose_codec(tensor.type_id, wanted)
        except ModelFileError as error:
            raise self._refusal(tensor, error) from None

    def _infer(self, members: Sequence[StoredTensor]) -> Choice:
        """Ask the first, the middle and the last layer; those that answer must agree."""
        asked = dict.fromkeys((members[0], members[len(members) // 2], members[-1]))
        answers: list[tuple[StoredTensor, Choice]] = []
        refusal = None
        for tensor in asked:
            try:
                answers.append((tensor, infer_codec(tensor.type_id, self._source.data(tensor), tensor.shape)))
            except ModelFileError as error:
                refusal = refusal or self._refusal(tensor, error)
        if refusal is not None and not answers:
            raise refusal
        first, chosen = answers[0]
        for tensor, choice in answers[1:]:
            if choice.codec is not chosen.codec:
                raise ModelFileError(
                    f"{self._source.name}: by the weights, type {tensor.type_id} is {chosen.codec.name} in tensor "
                    f"{first.stored_as} but {choice.codec.name} in {tensor.stored_as}{_advice(tensor.type_id)}."
                )
        return chosen

    def _refusal(self, tensor: StoredTensor, error: ModelFileError) -> ModelFileError:
        sentence = str(error).removesuffix(".")
        return ModelFileError(f"{self._source.name}: tensor {tensor.stored_as}: {sentence}{_advice(tensor.type_id)}.")


def _families(source: TensorSource) -> dict[tuple[int, str], list[StoredTensor]]:
    found: dict[tuple[int, str], list[StoredTensor]] = {}
    for tensor in source.tensors.values():
        if tensor.type_id in AMBIGUOUS_TYPES:
            found.setdefault((tensor.type_id, family(tensor.name)), []).append(tensor)
    return found


def _advice(type_id: int) -> str:
    entry = CODECS[type_id]
    is_choosable = isinstance(entry, Ambiguous) and entry.candidates
    return f'; say which is meant with haloband convert --read-as {type_id}="NAME"' if is_choosable else ""
