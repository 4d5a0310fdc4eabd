"""Items of labelled sentences."""

from records.strategy import Item


def item_of(identity: str, values: dict[str, float]) -> Item:
    component, option, *param = identity.split("/")
    unit = None if not param else "bps" if param[0] == "rate_bps" else "percent"
    value = values.get(identity)
    return Item(
        id=identity,
        component=component,  # type: ignore[arg-type]
        option=option,
        param=param[0] if param else None,
        text="",
        value=value * 100 if value is not None and unit == "percent" else value,
        unit=unit,
    )
