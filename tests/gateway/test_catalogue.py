import json

import pytest

from gateway.arguments import BadArgumentsError, UnknownToolError, find_endpoint, query_parameters
from gateway.catalogue import load_endpoints, mcp_tools


def test_flat_shape_has_245_tools_and_grouped_27() -> None:
    flat, grouped = mcp_tools("flat"), mcp_tools("grouped")
    assert (len(flat), len({tool.name for tool in flat})) == (245, 245)
    assert (len(grouped), len({tool.name for tool in grouped})) == (27, 27)


def test_grouped_tools_reach_every_flat_tool_once() -> None:
    reached = [slug for tool in mcp_tools("grouped") for slug in tool.input_schema["properties"]["endpoint"]["enum"]]
    assert sorted(reached) == sorted(load_endpoints())


def test_grouped_parameters_cover_those_of_their_endpoints() -> None:
    for tool in mcp_tools("grouped"):
        properties = tool.input_schema["properties"]
        for slug in properties["endpoint"]["enum"]:
            for param in load_endpoints()[slug].params:
                assert {"from": "from_date", "to": "to_date"}.get(param.name, param.name) in properties


def test_tool_list_stays_small_enough_for_an_agent() -> None:
    """About 30,000 tokens flat; the list of the common npm server is 163 KB."""
    sizes = {
        shape: len(json.dumps([tool.model_dump(mode="json", exclude_none=True) for tool in mcp_tools(shape)]))
        for shape in ("flat", "grouped")
    }
    assert sizes["flat"] < 130_000
    assert sizes["grouped"] < 60_000


def test_every_schema_refuses_unknown_parameters_and_names_no_key() -> None:
    for tool in (*mcp_tools("flat"), *mcp_tools("grouped")):
        assert tool.input_schema["additionalProperties"] is False
        assert "apikey" not in tool.input_schema["properties"]
        assert set(tool.input_schema["required"]) <= set(tool.input_schema["properties"])
        assert tool.description


def test_every_endpoint_says_what_its_dates_mean() -> None:
    kinds = {endpoint.asof for endpoint in load_endpoints().values()}
    assert kinds == {"snapshot", "period_end", "filing", "series", "event"}
    assert load_endpoints()["quote"].asof == "snapshot"
    assert load_endpoints()["key-metrics"].asof == "period_end"
    assert load_endpoints()["income-statement"].asof == "filing"


def test_values_become_the_text_the_api_wants() -> None:
    endpoint = load_endpoints()["search-company-screener"]
    given = {"marketCapMoreThan": 1e9, "isEtf": False, "limit": "5", "sector": "Energy", "page": 0.0, "country": None}
    assert query_parameters(endpoint, given) == {
        "marketCapMoreThan": "1000000000",
        "isEtf": "false",
        "limit": "5",
        "sector": "Energy",
        "page": "0",
    }
    batch = load_endpoints()["batch-quote"]
    assert query_parameters(batch, {"symbols": ["KO", "PEP"]}) == {"symbols": "KO,PEP"}


@pytest.mark.parametrize(
    ("slug", "arguments", "expected"),
    [
        ("quote", {}, "symbol is missing"),
        ("quote", {"symbol": ""}, "symbol is missing"),
        ("quote", {"symbol": ["KO"]}, "expected text"),
        ("quote", {"symbol": "K" * 3000}, "at most 2000 characters"),
        ("quote", {"symbol": "KO", "apikey": "x"}, "there is no parameter 'apikey'"),
        ("historical-price-eod-full", {"symbol": "KO", "from": "01/02/2020"}, "expected a date YYYY-MM-DD"),
        ("historical-price-eod-full", {"symbol": "KO", "to": "2020-02-30"}, "expected a date YYYY-MM-DD"),
        ("income-statement", {"symbol": "KO", "limit": 1.5}, "expected a whole number"),
        ("income-statement", {"symbol": "KO", "limit": True}, "expected a whole number"),
        ("search-company-screener", {"isEtf": "maybe"}, "expected true or false"),
        ("search-company-screener", {"betaMoreThan": "high"}, "expected a number"),
    ],
)
def test_bad_arguments_say_what_was_found_and_expected(slug: str, arguments: dict[str, object], expected: str) -> None:
    with pytest.raises(BadArgumentsError, match=expected):
        query_parameters(load_endpoints()[slug], arguments)


def test_grouped_call_is_read_into_the_apis_own_names() -> None:
    given = {"endpoint": "historical-price-eod-full", "symbol": "KO", "from_date": "2020-01-01"}
    endpoint, rest = find_endpoint("grouped", "chart", given)
    assert endpoint.path == "historical-price-eod/full"
    assert query_parameters(endpoint, rest) == {"symbol": "KO", "from": "2020-01-01"}
    with pytest.raises(BadArgumentsError, match="endpoint is 'quote'; expected one of"):
        find_endpoint("grouped", "chart", {"endpoint": "quote"})


@pytest.mark.parametrize(("shape", "tool"), [("flat", "chart"), ("grouped", "quote-short"), ("flat", "")])
def test_tool_of_the_other_shape_is_unknown(shape: str, tool: str) -> None:
    with pytest.raises(UnknownToolError):
        find_endpoint("flat" if shape == "flat" else "grouped", tool, {})
