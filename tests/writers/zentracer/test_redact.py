"""What of a command line is recorded."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zentracer.redact import redact


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["train.py", "--api-key", "abc", "--lr", "0.1"], ["train.py", "--api-key", "***", "--lr", "0.1"]),
        (["train.py", "--token=abc"], ["train.py", "--token=***"]),
        (["--hf_token", "-abc"], ["--hf_token", "***"]),
        (["--secret", "--verbose"], ["--secret", "--verbose"]),
        (["wandb.api_key=abc", "model.width=8"], ["wandb.api_key=***", "model.width=8"]),
        (["DB_PASSWORD=a b c"], ["DB_PASSWORD=***"]),
        (['{"password": "x y", "lr": 1}'], ['{"password": ***, "lr": 1}']),
        (["https://me:pass@host/data"], ["https://***@host/data"]),
        (["s3://key@bucket/x"], ["s3://***@bucket/x"]),
        (["https://host/data?token=abc&x=1"], ["https://host/data?token=***&x=1"]),
        (["--header", "Authorization: Bearer abc.def"], ["--header", "Authorization: Bearer ***"]),
        (["--awsSecretAccessKey", "abc"], ["--awsSecretAccessKey", "***"]),
        (["--tokenizer", "gpt2", "--max-tokens", "512"], ["--tokenizer", "gpt2", "--max-tokens", "512"]),
        (["--keyframes=3", "--author", "me"], ["--keyframes=3", "--author", "me"]),
    ],
)
def test_values_after_the_names_of_secrets_and_credentials_in_urls_are_hidden(given, kept):
    assert redact(given) == kept


SECRET = st.text(string.ascii_letters + string.digits, min_size=6).map(lambda text: f"zq{text}")


@given(
    secret=SECRET,
    name=st.sampled_from(["key", "token", "secret", "password"]),
    before=st.sampled_from(["", "my-", "hf_", "a."]),
    form=st.sampled_from(
        ["--{n}={s}", "--{n}\n{s}", "{n}={s}", "+x.{n}={s}", "https://u:{s}@h/p", "--u=https://{s}@h"]
    ),
)
def test_no_form_lets_a_secret_through(secret, name, before, form):
    arguments = form.format(n=before + name, s=secret).split("\n")
    assert secret not in " ".join(redact(["x.py", *arguments]))
