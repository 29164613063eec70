import { Checkbox, Radio, Stack } from '@mantine/core';
import { TASK_LEVELS, TASK_STAGES, type ChosenStage } from '../api/run-tasks.js';
import { formatName } from './words.js';

const STAGES: Readonly<Record<ChosenStage, string>> = {
  pre_plan: 'Before the plan',
  post_plan: 'After the plan',
  pre_apply: 'Before the apply',
  post_apply: 'After the apply',
};

export type TaskLevel = (typeof TASK_LEVELS)[number];

/** The stages and the enforcement of a run task. */
type TaskScope = { readonly stages: readonly ChosenStage[]; readonly level: TaskLevel };

/** `After the plan, before the apply: mandatory`. */
export const describeTaskScope = ({ stages, level }: TaskScope): string => {
  const words = formatStages(stages);
  return words === '' ? formatName(level) : `${words}: ${level}`;
};

const formatStages = (stages: readonly ChosenStage[]): string => {
  const names = TASK_STAGES.filter((each) => stages.includes(each)).map((each) => STAGES[each].toLowerCase());
  return formatName(names.join(', '));
};

type ScopeFieldsProps = TaskScope & {
  readonly error: string | null;
  readonly onChange: (scope: TaskScope) => void;
};

const LEVEL_HINTS: Readonly<Record<TaskLevel, string>> = {
  advisory: 'The run continues whatever the result is.',
  mandatory: 'The run ends if the task does not pass. After the apply, the result is only shown.',
};

/** Chooses when a task is requested, and what a failure means. */
export const TaskScopeFields = ({ stages, level, error, onChange }: ScopeFieldsProps) => (
  <>
    <Checkbox.Group
      label="Request it"
      value={[...stages]}
      onChange={(chosen) => onChange({ level, stages: TASK_STAGES.filter((each) => chosen.includes(each)) })}
      error={error}
    >
      <Stack gap={8} mt={4}>
        {TASK_STAGES.map((stage) => (
          <Checkbox key={stage} value={stage} label={STAGES[stage]} />
        ))}
      </Stack>
    </Checkbox.Group>
    <Radio.Group
      label="Enforcement"
      value={level}
      onChange={(chosen) => onChange({ stages, level: chosen as TaskLevel })}
    >
      <Stack gap={8} mt={4}>
        {TASK_LEVELS.map((each) => (
          <Radio key={each} value={each} label={formatName(each)} description={LEVEL_HINTS[each]} />
        ))}
      </Stack>
    </Radio.Group>
  </>
);
