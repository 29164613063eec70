import { ActionIcon, Button, Checkbox, Group, Input, Select, Stack, Textarea, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ConfigurationVersion } from '../../api/runs.js';
import type { useForm } from '../../components/form.js';
import { CloseIcon, PlusIcon } from '../../components/icons.js';
import { findFieldProblem } from '../../components/problems.js';
import { formatShortTime } from '../../components/times.js';
import type { NewRunValues, EnteredVariable } from './new-run-form.js';

export type NewRunForm = ReturnType<typeof useForm<NewRunValues>>;

type FormProps = { readonly form: NewRunForm };

const VariableFields = ({ form }: FormProps) => {
  const { variables } = form.values;
  const enter = (next: readonly EnteredVariable[]) => form.enter({ variables: next });
  const change = (index: number, changes: Partial<EnteredVariable>) =>
    enter(variables.map((each, position) => (position === index ? { ...each, ...changes } : each)));
  return (
    <Input.Wrapper
      label="Variables of this run"
      labelElement="div"
      description="They have precedence over all others. Write values as in HCL: texts have quotes. Everybody who may read the variables can read them."
      error={findFieldProblem(form.error, 'variables')}
    >
      <Stack gap="xs" mt={6}>
        {variables.map(({ key, value }, index) => (
          <Group key={index} gap="xs" wrap="nowrap" align="flex-start">
            <TextInput
              aria-label={`Key of variable ${index + 1}`}
              placeholder="region"
              autoComplete="off"
              flex={1}
              value={key}
              onChange={(event) => change(index, { key: event.currentTarget.value })}
            />
            <TextInput
              aria-label={`Value of variable ${index + 1}`}
              placeholder={'"eu"'}
              autoComplete="off"
              flex={2}
              value={value}
              onChange={(event) => change(index, { value: event.currentTarget.value })}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              size="lg"
              aria-label={`Remove variable ${index + 1}`}
              onClick={() => enter(variables.filter((_, position) => position !== index))}
            >
              <CloseIcon size={16} />
            </ActionIcon>
          </Group>
        ))}
        <Button
          variant="default"
          size="compact-sm"
          w="fit-content"
          leftSection={<PlusIcon size={14} />}
          onClick={() => enter([...variables, { key: '', value: '' }])}
        >
          Add a variable
        </Button>
      </Stack>
    </Input.Wrapper>
  );
};

/** What a run that can be applied has besides. */
const ApplyFields = ({ form }: FormProps) => (
  <>
    <Checkbox
      label="Save the plan"
      description="The plan does not lock the workspace. It is locked when a person confirms the run."
      {...form.checkbox('save-plan')}
    />
    <Checkbox
      label="Apply even without changes"
      description="Writes the state again, for example with a new version of Terraform."
      {...form.checkbox('allow-empty-apply')}
    />
  </>
);

const describeVersion = ({ id, attributes }: ConfigurationVersion): string => {
  const { 'uploaded-at': uploaded } = attributes['status-timestamps'];
  return [
    uploaded === undefined ? id : formatShortTime(uploaded),
    ...(attributes.speculative ? ['plans only'] : []),
    id,
  ].join(' · ');
};

type OptionsProps = FormProps & {
  readonly configurations: readonly ConfigurationVersion[];
  /** Uploads another configuration. */
  readonly upload: ReactNode;
};

/** Options that few runs need. */
export const NewRunOptions = ({ form, configurations, upload }: OptionsProps) => {
  const { kind } = form.values;
  const isPlanOnly = kind === 'plan';
  const lines = { autosize: true, minRows: 2, maxRows: 8, spellCheck: false } as const;
  return (
    <Stack>
      <Select
        label="Configuration"
        data={[
          { value: '', label: 'The current one' },
          ...configurations.map((each) => ({ value: each.id, label: describeVersion(each) })),
        ]}
        allowDeselect={false}
        {...form.choice('configuration-version')}
        onChange={(id) => form.enter({ 'configuration-version': id ?? '' })}
      />
      {upload}
      <Textarea
        label="Only these resources"
        description="Addresses such as module.network.aws_subnet.a, one a line. Empty for all resources."
        {...lines}
        {...form.text('target-addrs')}
      />
      {(kind === 'apply' || isPlanOnly) && (
        <Textarea
          label="Replace these resources"
          description="Addresses, one a line. They are destroyed and created again, even if nothing else changes them."
          {...lines}
          {...form.text('replace-addrs')}
        />
      )}
      <VariableFields form={form} />
      {isPlanOnly && (
        <TextInput
          label="Terraform version"
          description="Empty for the version of the workspace."
          placeholder="1.13.0"
          {...form.text('terraform-version')}
        />
      )}
      {!isPlanOnly && <ApplyFields form={form} />}
      {kind !== 'refresh' && (
        <Checkbox
          label="Read the real resources first"
          description="Without it, the plan is faster, and does not see what others have changed."
          {...form.checkbox('refresh')}
        />
      )}
    </Stack>
  );
};
