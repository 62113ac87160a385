package dev.pipewright.formats.export;

import java.util.List;

/** A form of Megatron-LM's settings: each can say the same of a plan, or less. */
interface MegatronTarget extends PlanExport {
  @Override
  default List<String> schedules(ExportSubject plan) {
    return ScheduleRules.names(MegatronSteps.SCHEDULES);
  }

  @Override
  default List<ExportRule> rules() {
    return MegatronSteps.rules();
  }

  @Override
  default List<String> notes(ExportSubject plan) {
    return MegatronSteps.notes(plan);
  }
}
