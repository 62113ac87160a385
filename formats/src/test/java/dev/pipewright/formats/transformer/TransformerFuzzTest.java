package dev.pipewright.formats.transformer;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.catalog.ModelFiles;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Refusal;
import dev.pipewright.formats.model.TransformerFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.io.TempDir;

/** Files broken at random are read or refused in a sentence; nothing else happens. */
class TransformerFuzzTest {
  private static final List<String> SEEDS =
      List.of(
          """
          {
            "architectures": ["DeepseekV3ForCausalLM"],
            "model_type": "deepseek_v3",
            "hidden_size": 7168,
            "q_lora_rank": null,
            "layer_types": ["full_attention", "sliding_attention"],
            "num_hidden_layers": 2,
            "num_nextn_predict_layers": 1,
            "tie_word_embeddings": false
          }
          """,
          """
          {"model_type": "llama4", "vision_config": {}, "text_config": {
            "model_type": "llama4_text", "num_hidden_layers": 4, "no_rope_layers": [1, 0, 1, 1],
            "moe_layers": [1, 3], "num_attention_heads": 40, "head_dim": 128}}
          """,
          """
          {"model_type": "vit", "image_size": 224, "patch_size": 16,
            "architectures": ["ViTForImageClassification"], "id2label": {"0": "a", "1": "b"}}
          """,
          """
          MODEL_ARGS:
            --num-layers: 4
            --hidden-size: 64
            --num-attention-heads: 4
            --seq-length: 32
            --position-embedding-type: rope
            --num-experts: 8
            --moe-layer-freq: ([0]*1+[1]*3)
            --window-size: 15,0
            --load: ${CHECKPOINT}
          """,
          """
          H=64
          S=$((H / 2))
          ARGS=(
            --num-layers ${LAYERS:-4} # deep
            --hidden-size $H --num-attention-heads "$((H / (8 + 8)))"
            "--seq-length $S" '--max-position-embeddings 32' \\
            --vocab-size=256
          )
          torchrun pretrain_gpt.py ${ARGS[@]}
          """,
          """
          ------------------------ arguments ------------------------
            hidden_size ..................................... 64
            num_layers ...................................... 4
            num_attention_heads ............................. 4
            moe_layer_freq .................................. [0, 1, 1, 1]
            max_position_embeddings ......................... 32
            seq_length ...................................... 32
          -------------------- end of arguments ---------------------
           > padded vocab (size: 200) with 56 dummy tokens (new size: 256)
          """,
          """
          [model]
          name = "llama3"
          flavor = "8B" # x
          [training]
          seq_len = 1_024
          list = ["a",
            'b']
          """,
          """
          {"hidden": 64, "feedforward": 256, "seq_size": 32, "attn_heads": 4, "attn_size": 16,
            "num_blocks": 3}
          """);
  private static final List<String> PIECES =
      List.of(
          "0",
          "-1",
          "9999999999",
          "2147483647",
          "16777216",
          "1e400",
          "NaN",
          "null",
          "true",
          "[",
          "]",
          "{",
          "}",
          "(",
          ")",
          "\"",
          "'",
          "$",
          "${",
          "$((",
          "))",
          "`",
          "\\",
          "#",
          "*",
          "+",
          "=",
          ",",
          ":",
          "\n",
          "\t",
          "--",
          "\0",
          "\uFFFD",
          "é",
          "\u0663",
          "\uE000",
          "[0]*99999999");

  @TempDir Path folder;

  @RepeatedTest(150)
  void brokenFilesAreReadOrRefused(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    for (int i = 0; i < SEEDS.size(); i++) {
      String text = broken(SEEDS.get(i), random);
      Path file = Refusal.file(folder, "seed-" + i + ".txt", text);
      survives(
          file + "\n" + text,
          () -> ModelFiles.described(file, OptionalInt.of(1), Optional.empty()));
    }
  }

  @RepeatedTest(50)
  void layoutsOfAnyLettersAreReadOrRefused(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(30); i > 0; i--) {
      text.append("EtmL|()*,0123tt||".charAt(random.nextInt(17)));
    }
    survives(
        text.toString(),
        () ->
            MegatronLayout.parse(text.toString(), random.nextInt(1, 4))
                .problems(OptionalInt.of(3), OptionalInt.empty()));
  }

  private static String broken(String text, SplittableRandom random) {
    String current = text;
    for (int i = random.nextInt(1, 5); i > 0; i--) {
      int at = random.nextInt(current.length() + 1);
      int to = Math.min(current.length(), at + random.nextInt(6));
      List<String> lines = new ArrayList<>(current.lines().toList());
      int line = lines.isEmpty() ? -1 : random.nextInt(lines.size());
      current =
          switch (random.nextInt(line < 0 ? 3 : 5)) {
            case 0 -> current.substring(0, at) + current.substring(to);
            case 1, 2 ->
                current.substring(0, at)
                    + PIECES.get(random.nextInt(PIECES.size()))
                    + current.substring(to);
            case 3 -> {
              lines.add(random.nextInt(lines.size()), lines.get(line));
              yield String.join("\n", lines);
            }
            default -> {
              lines.remove(line);
              yield String.join("\n", lines);
            }
          };
    }
    return current;
  }

  private static void survives(String what, Supplier<?> reader) {
    try {
      if (reader.get() instanceof TransformerFile read) {
        assertTrue(read.shape().parameters() >= 0, what);
        assertTrue(read.shape().flopsPerToken(64) >= 0, what);
      }
    } catch (BadInputException e) {
      String said = String.valueOf(e.getMessage());
      assertFalse(said.contains("\n") || said.contains("Exception"), said);
      assertTrue(said.contains("; "), "no remedy: " + said);
    } catch (RuntimeException | StackOverflowError e) {
      throw new AssertionError(what, e);
    }
  }
}
