package dev.pipewright.formats.export;

import java.util.List;

/** A form of torchtitan's configurations: each can say the same of a plan. */
interface TorchtitanTarget extends PlanExport {
  @Override
  default String framework() {
    return "torchtitan";
  }

  @Override
  default List<String> schedules(ExportSubject plan) {
    return ScheduleRules.names(TorchtitanNetwork.SCHEDULES);
  }

  @Override
  default List<ExportRule> rules() {
    return TorchtitanNetwork.rules();
  }

  @Override
  default List<String> notes(ExportSubject plan) {
    return TorchtitanNetwork.notes(plan);
  }
}
