"""The base of every persisted record: frozen, no unknown keys, one JSON form."""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A frozen record; unknown keys are refused so that a typo cannot pass in silence."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the record as JSON text, field order as declared, the same bytes for the same values."""
        return self.model_dump_json(indent=indent)
