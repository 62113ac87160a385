package dev.pipewright.formats.export;

import dev.pipewright.plan.PipelinePlan;
import java.util.Optional;

/**
 * A part of a plan that a framework cannot say.
 *
 * @param part what the plan has, and what the framework has instead; completes "cannot say"
 * @param nearest the plan with that part as the framework has it; empty where there is none
 */
public record Gap(String part, Optional<PipelinePlan> nearest) {}
