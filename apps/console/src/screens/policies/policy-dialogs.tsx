import { Radio, Stack, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import {
  POLICY_LEVELS,
  policyTextQuery,
  useCreatePolicy,
  useDeletePolicy,
  useUpdatePolicy,
  type ConsolePolicy,
  type PolicyLevel,
} from '../../api/policies.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { formatCount } from '../../components/counts.js';
import { listChanges, useForm } from '../../components/form.js';
import { FormDialog } from '../../components/form-dialog.js';
import { QueryState } from '../../components/states.js';
import { formatName } from '../../components/words.js';
import { reportAndClose } from '../../toasts.js';
import { RegoField } from './rego-field.js';

type DialogProps = { readonly organization: string; readonly onClose: () => void };
type PolicyDialogProps = DialogProps & { readonly policy: ConsolePolicy };

type PolicyValues = {
  readonly name: string;
  readonly description: string;
  readonly query: string;
  readonly 'enforcement-level': PolicyLevel;
  readonly text: string;
};

const EXAMPLE = `package terraform.buckets

import rego.v1

deny contains message if {
  some change in input.plan.resource_changes
  change.type == "aws_s3_bucket"
  change.change.after.acl == "public-read"
  message := sprintf("%s is public", [change.address])
}
`;

const NEW_POLICY: PolicyValues = {
  name: '',
  description: '',
  query: 'data.terraform.buckets.deny',
  'enforcement-level': 'advisory',
  text: EXAMPLE,
};

const LEVEL_HINTS: Readonly<Record<PolicyLevel, string>> = {
  advisory: 'The run shows a failure and continues.',
  mandatory: 'A run whose plan does not pass ends, or waits for an override if its policy set allows one.',
};

type FieldsProps = {
  readonly form: ReturnType<typeof useForm<PolicyValues>>;
  readonly isNew: boolean;
  readonly isTextReadable?: boolean;
};

const PolicyFields = ({ form, isNew, isTextReadable = true }: FieldsProps) => (
  <>
    {isNew && (
      <TextInput
        label="Name"
        description="It cannot change later."
        required
        data-autofocus
        {...form.text('name')}
        spellCheck={false}
      />
    )}
    <TextInput label="Description" {...form.text('description')} />
    <TextInput
      label="Query"
      description="The rule that OPA evaluates. The policy passes if the result is an empty list."
      required
      data-autofocus={!isNew || undefined}
      spellCheck={false}
      {...form.text('query')}
    />
    <Radio.Group label="Enforcement" {...form.choice('enforcement-level')}>
      <Stack gap={8} mt={4}>
        {POLICY_LEVELS.map((each) => (
          <Radio key={each} value={each} label={formatName(each)} description={LEVEL_HINTS[each]} />
        ))}
      </Stack>
    </Radio.Group>
    <RegoField
      value={form.values.text}
      isDisabled={!isTextReadable || form.isPending}
      onChange={(text) => form.enter({ text })}
    />
  </>
);

export const CreatePolicyDialog = ({ organization, onClose }: DialogProps) => {
  const change = useCreatePolicy(organization);
  const form = useForm(NEW_POLICY, change);
  const { text: _text, ...attributes } = form.trimmed;
  // Spaces at the ends of the text belong to it.
  const saved = { attributes: { ...attributes, kind: 'opa' as const }, text: form.values.text };
  return (
    <FormDialog
      title="New policy"
      action="Create"
      size="lg"
      form={form}
      onSubmit={() => change.mutate(saved, reportAndClose(`The policy ${attributes.name} is created.`, onClose))}
      onClose={onClose}
    >
      <PolicyFields form={form} isNew />
    </FormDialog>
  );
};

export const ChangePolicyDialog = ({ organization, policy, onClose }: PolicyDialogProps) => {
  const { name, description, query, 'enforcement-level': level } = policy.attributes;
  const change = useUpdatePolicy(organization, policy.id);
  const reading = useQuery(policyTextQuery(organization, policy));
  const present = { name, description, query, 'enforcement-level': level, text: reading.data ?? '' };
  const form = useForm<PolicyValues>(present, change);
  const { text: _text, ...attributes } = listChanges(present, form.trimmed);
  const { text } = form.values;
  const isTextChanged = reading.data !== undefined && text !== reading.data;
  const saved = { attributes, text: isTextChanged ? text : null };
  return (
    <FormDialog
      title={`Change ${name}`}
      action="Save"
      size="lg"
      isDisabled={Object.keys(attributes).length === 0 && !isTextChanged}
      form={form}
      onSubmit={() => change.mutate(saved, reportAndClose(`The policy ${name} is saved.`, onClose))}
      onClose={onClose}
    >
      <PolicyFields form={form} isNew={false} isTextReadable={reading.isSuccess} />
      {reading.isError && (
        <QueryState query={reading} what="text of the policy">
          {() => null}
        </QueryState>
      )}
    </FormDialog>
  );
};

export const DeletePolicyDialog = ({ organization, policy, onClose }: PolicyDialogProps) => {
  const { name, 'policy-set-count': sets } = policy.attributes;
  const deletion = useDeletePolicy(organization, policy.id);
  return (
    <ConfirmDialog
      title={`Delete ${name}`}
      action="Delete"
      typed={name}
      change={deletion}
      onConfirm={() => deletion.mutate(undefined, reportAndClose(`The policy ${name} is deleted.`, onClose))}
      onClose={onClose}
    >
      {sets === 0 ? 'It is in no policy set.' : `It is in ${formatCount(sets, 'policy set')}. Later plans skip it.`} You
      cannot undo this.
    </ConfirmDialog>
  );
};
