# SPDX-License-Identifier: MIT
# lathe schema, by a validator that is not ours: the shipped experiments and manifests fit
# it, and what the program refuses does not.
set -u
python=/usr/bin/python3
"$python" -c 'import jsonschema' 2>/dev/null || { echo "no python3-jsonschema"; exit 77; }
exec "$python" - <<'END'
import copy, glob, json, os, subprocess, sys
import jsonschema

def schema(*words):
    said = subprocess.run([os.environ["LATHE"], "schema", *words], capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    made = json.loads(said.stdout)
    jsonschema.Draft7Validator.check_schema(made)
    return jsonschema.Draft7Validator(made)

faults = 0
def complain(*words):
    global faults
    faults += 1
    print(*words, file=sys.stderr)

source = os.environ["SOURCE"]
manifests, plugins = schema(), schema("--plugin")
for validator, files in ((manifests, "manifests/*.json"), (plugins, "plugins/*/*/plugin.json")):
    found = sorted(glob.glob(os.path.join(source, files)))
    if not found:
        complain("nothing fits", files)
    for file in found:
        for error in validator.iter_errors(json.load(open(file))):
            complain(file, list(error.path), error.message)

sound = json.load(open(os.path.join(source, "manifests/fashion-mlp.json")))
def wrong(name, *path, to):
    changed = copy.deepcopy(sound)
    place = changed
    for key in path[:-1]:
        place = place[key]
    if to is None:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    if manifests.is_valid(changed):
        complain(name, "fits the schema")

wrong("an unknown member", "optimiser", to={})
wrong("no model", "model", to=None)
wrong("an unknown plugin", "model", "use", to="mpl")
wrong("a plugin of another kind", "model", "use", to="sgd")
wrong("an unknown option", "model", "hiden", to=[3])
wrong("an option of another type", "model", "hidden", to="wide")
wrong("a rate below its range", "optimizer", "lr", to=-1)
wrong("a bare number for a duration", "train", "until", to=10)
wrong("a duration without a unit", "train", "until", to="10")
wrong("an unknown option of a data set", "data", "train", "imagos", to="x")
wrong("an unknown callback", "callbacks", to=[{"use": "progres"}])
wrong("an expectation without a comparison", "expect", to={"validation/accuracy": "0.9"})
right = copy.deepcopy(sound)
right["train"]["until"] = ["10ep", "2h"]
right["train"]["validate"] = "off"
if not manifests.is_valid(right):
    complain("a list of durations does not fit")
sys.exit(faults > 0)
END
