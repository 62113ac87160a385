package dev.pipewright.formats.oracle;

import dev.pipewright.formats.file.Nearest;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Names of a table's columns: those that predictions read, and those that are passed through. */
final class TrainingColumns {
  private static final int SHORT = 4; // letters of a name in which one wrong letter is a lot

  /** Read by predictions. */
  private static final Set<String> READ =
      names(
          "id machine devices layers hidden heads kv_heads head_dim ffn gated tied"
              + " tied_embeddings vocabulary sequence global_batch micro_batch tensor data"
              + " pipeline context interleave expert expert_tensor experts top_k moe_ffn"
              + " shared_ffn shared_expert_ffn dense_layers_first moe_every moe_layer_freq mla"
              + " q_lora kv_lora qk_nope qk_rope v_head mtp sequence_parallel zero fsdp"
              + " fsdp_degree distributed_optimizer optimizer embedding_in_split loss_in_split"
              + " layout reshard recompute recompute_detail recompute_modules recompute_num_layers"
              + " offload offload_layers offload_optimizer precision grads fp8_format fp8_recipe attention"
              + " attention_backend attention_dropout"
              + " hidden_dropout position position_embedding max_position norm cross_entropy_fusion"
              + " cuda_graph moe_dispatcher moe_a2a_overlap token_drop framework release eager"
              + " async_tensor_parallel transformer_impl max_allocated_bytes");

  /** In published tables; without influence on predictions. */
  private static final Set<String> PASSED =
      names(
          "iteration_s parameters model activation linear_bias attention_note unknown recipe source"
              + " configuration test_case machine_note devices_from nodes gpus_per_node"
              + " normalization qk_layernorm tokenizer batch_ramp first_stage_layers"
              + " last_stage_layers vpp_group last_rank_layers last_rank_moe_layers context_comm"
              + " hierarchical_cp moe_layers moe_balancing moe_grouped_gemm moe_permute_fusion"
              + " moe_router_padding recompute_method optimizer_instances layer_wise_optimizer"
              + " fsdp_strategy overlap_grad_reduce overlap_param_gather overlap_param_gather_step"
              + " tp_comm_overlap delay_wgrad defer_embedding_wgrad no_overlap_p2p"
              + " p2p_warmup_flush_overlap grad_accumulation_fusion fp8_param_gather"
              + " first_last_bf16 attention_inferred nvte_env attention_softmax_fp32"
              + " query_key_layer_scaling masked_softmax_fusion attention_mask_in_dataloader"
              + " op_fuser dp_last_mapping empty_unused_memory alloc_conf run test_type platform"
              + " golden_commit history steps early_max_allocated_bytes allocated_bytes"
              + " iteration_s_p10 iteration_s_p90 large flags_changed_since note deterministic"
              + " environment golden_date");

  private TrainingColumns() {}

  private static Set<String> names(String words) {
    return Stream.of(words.split(" ", -1)).collect(Collectors.toCollection(LinkedHashSet::new));
  }

  static boolean isKnown(String name) {
    return READ.contains(name) || PASSED.contains(name);
  }

  /** The column that an unknown name is a misspelling of. */
  static Optional<String> meant(String name) {
    List<String> near = READ.stream().filter(known -> isNear(name, known)).toList();
    return near.stream()
        .min((a, b) -> Integer.compare(Nearest.edits(name, a), Nearest.edits(name, b)));
  }

  private static boolean isNear(String name, String known) {
    String plain = plain(name);
    int most = Math.min(plain.length(), known.length()) <= SHORT ? 1 : 2;
    boolean rest = known.length() > 2 || plain.equals(plain(known));
    return rest && Nearest.edits(plain, plain(known)) <= most;
  }

  /** Without case and separators. */
  private static String plain(String name) {
    return name.toLowerCase(Locale.ROOT).replaceAll("[ _-]", "");
  }
}
