"""transformers: a small Llama generates text, one token a step, with its cache; a new text begins after 64 tokens."""
import torch
from transformers import LlamaConfig, LlamaForCausalLM


def setup():
    torch.manual_seed(22)
    model = LlamaForCausalLM(LlamaConfig(vocab_size=1000, hidden_size=128, intermediate_size=384, num_hidden_layers=4, num_attention_heads=4,
                                         num_key_value_heads=2, max_position_embeddings=128)).to("cuda").eval()
    tokens, cache, length = torch.ones(1, 1, dtype=torch.int64, device="cuda"), None, 0
    folded = torch.zeros(1, dtype=torch.int64, device="cuda")

    @torch.inference_mode()
    def step():
        nonlocal tokens, cache, length
        outcome = model(input_ids=tokens, past_key_values=cache, use_cache=True)
        folded.mul_(31).add_(outcome.logits[0, -1].argmax())
        tokens = outcome.logits[:, -1:].argmax(dim=-1)
        cache, length = outcome.past_key_values, length + 1
        if length == 64:
            tokens, cache, length = (folded % 1000).view(1, 1), None, 0

    return step, torch.cuda.synchronize, lambda: [folded.cpu()]
