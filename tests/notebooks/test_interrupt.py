"""The square in the toolbar stops a training cell, and the model keeps what it has learnt."""

from jupyter_client.manager import start_new_kernel

TRAIN = """
from dataclasses import replace
from transformer_lab.data.world.grammar import world
from transformer_lab.runs.building import make_trainer, build_translator
from transformer_lab.runs.presets import PRESETS

splits = world(train=500, validation=20, test=20, seed=0)
translator = build_translator(splits, "world", PRESETS["tiny"])
settings = replace(PRESETS["tiny"].training, max_steps=100_000, validate_every=100_000, save_every=None)

def on_step(report):
    if report.step == 5:
        print("five steps", flush=True)

trainer = make_trainer(translator, splits, settings, on_step=on_step, show_progress=False)
before = translator.model.output.weight.detach().clone()
stopped = trainer.train()
print(stopped)
"""
AFTER = """
moved = (translator.model.output.weight - before).abs().max().item()
score = translator.score(splits.test[0].source, splits.test[0].target)
print(5 <= trainer.progress.step < 100_000, moved > 0, -1_000 < score < 0)
"""


def test_interrupting_a_training_cell_keeps_the_model():
    manager, client = start_new_kernel(kernel_name="python3")
    try:
        printed = []

        def hook(message):
            content = message["content"]
            printed.append(content.get("text", "") + "\n".join(content.get("traceback", [])))
            if "five steps" in printed[-1]:
                manager.interrupt_kernel()

        done = client.execute_interactive(TRAIN, timeout=120, output_hook=hook)
        assert done["content"]["status"] == "ok", printed
        assert "interrupted" in "".join(printed)
        printed.clear()
        client.execute_interactive(AFTER, timeout=120, output_hook=hook)
        assert "True True True" in "".join(printed)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
