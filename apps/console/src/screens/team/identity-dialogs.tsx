import {
  ActionIcon,
  Button,
  Group,
  Input,
  NumberInput,
  SegmentedControl,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import { useState } from 'react';
import {
  useChangeWorkloadIdentity,
  useCreateWorkloadIdentity,
  useDeleteWorkloadIdentity,
  type WorkloadIdentity,
} from '../../api/workload-identities.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { CodeBlock } from '../../components/copy.js';
import { Dialog } from '../../components/dialog.js';
import { listChanges, pickChanged, useForm } from '../../components/form.js';
import { FormDialog } from '../../components/form-dialog.js';
import { CloseIcon } from '../../components/icons.js';
import { findFieldProblem } from '../../components/problems.js';
import { reportAndClose } from '../../toasts.js';
import {
  ISSUERS,
  toIdentityAttributes,
  toIdentityFields,
  type ClaimFields,
  type IdentityFields,
} from './identity-form.js';
import { formatGithubJob, formatGitlabJob, GITHUB } from './identity-snippets.js';

type ClaimsProps = {
  readonly claims: readonly ClaimFields[];
  readonly error: Error | null;
  readonly onChange: (claims: readonly ClaimFields[]) => void;
};

/** The claims that a token must have, with the values that are accepted. */
const ClaimsField = ({ claims, error, onChange }: ClaimsProps) => {
  const replace = (index: number, claim: Partial<ClaimFields>) =>
    onChange(claims.map((each, position) => (position === index ? { ...each, ...claim } : each)));
  return (
    <Input.Wrapper
      label="Claims"
      labelElement="div"
      description="A token needs one of the values of each claim. One claim must name your repository or its owner. An asterisk stands for any characters."
      error={findFieldProblem(error, 'claims')}
    >
      <Stack gap="xs" mt="xs">
        {claims.map((claim, index) => (
          // The rows have no other identity: two of them can have the same name while a person types.
          <Group key={index} gap="xs" align="flex-start" wrap="nowrap">
            <TextInput
              aria-label={`Name of claim ${index + 1}`}
              w="9rem"
              spellCheck={false}
              value={claim.name}
              onChange={(event) => replace(index, { name: event.currentTarget.value })}
            />
            <TagsInput
              aria-label={`Accepted values of claim ${index + 1}`}
              flex={1}
              miw={0}
              acceptValueOnBlur
              placeholder={claim.values.length === 0 ? 'Value, Enter for the next' : ''}
              value={[...claim.values]}
              // The server names the claim whose values it refuses.
              error={findFieldProblem(error, claim.name.trim())}
              onChange={(values) => replace(index, { values })}
              comboboxProps={{ withinPortal: false }}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              mt={4}
              aria-label={`Remove claim ${index + 1}`}
              onClick={() => onChange(claims.filter((_, position) => position !== index))}
            >
              <CloseIcon size={16} />
            </ActionIcon>
          </Group>
        ))}
        <div>
          <Button size="compact-sm" variant="default" onClick={() => onChange([...claims, { name: '', values: [] }])}>
            Add a claim
          </Button>
        </div>
      </Stack>
    </Input.Wrapper>
  );
};

type IssuerProps = { readonly issuer: string; readonly onChoose: (fields: Partial<IdentityFields>) => void };

/** Fills in an issuer and the names of its usual claims. */
const IssuerChoice = ({ issuer, onChoose }: IssuerProps) => (
  <SegmentedControl
    fullWidth
    transitionDuration={0}
    aria-label="CI system"
    data={ISSUERS.map(({ label }) => label)}
    value={(ISSUERS.find((each) => each.issuer === issuer) ?? ISSUERS[2]).label}
    onChange={(label) => {
      const chosen = ISSUERS.find((each) => each.label === label) ?? ISSUERS[2];
      onChoose({ issuer: chosen.issuer, claims: chosen.claims });
    }}
  />
);

type DialogProps = { readonly organization: string; readonly onClose: () => void };
type FormProps = DialogProps & {
  readonly team: string;
  /** Null for a new identity. */
  readonly identity: WorkloadIdentity | null;
  /** Called with a new identity, so that the person sees how a job uses it. */
  readonly onCreated: (identity: WorkloadIdentity) => void;
};

/** Sends a new identity, or what the person has changed of the present one. */
const useIdentityForm = ({ organization, team, identity, onClose, onCreated }: FormProps) => {
  const creation = useCreateWorkloadIdentity(organization, team);
  const change = useChangeWorkloadIdentity(organization);
  const present = toIdentityFields(identity);
  const form = useForm(present, identity === null ? creation : change);
  const entered = toIdentityAttributes(form.trimmed);
  const save = () => {
    if (identity === null) return creation.mutate(entered, { onSuccess: onCreated });
    const attributes = pickChanged(entered, listChanges(present, form.trimmed));
    return change.mutate(
      { id: identity.id, attributes },
      reportAndClose(`The workload identity ${entered.name} is saved.`, onClose),
    );
  };
  const fields = [...form.fields, ...form.values.claims.map(({ name }) => name.trim())];
  return { form: { ...form, fields }, save };
};

/** Creates or changes a workload identity. */
export const IdentityDialog = (props: FormProps) => {
  const { identity, onClose } = props;
  const { form, save } = useIdentityForm(props);
  return (
    <FormDialog
      size="lg"
      title={identity === null ? 'New workload identity' : `Change ${identity.attributes.name}`}
      action={identity === null ? 'Create' : 'Save'}
      intro={
        <Text size="sm">
          Jobs of a CI system get short-lived tokens of this team without a stored secret, if the claims of their tokens
          match.
        </Text>
      }
      form={form}
      onSubmit={save}
      onClose={onClose}
    >
      <TextInput label="Name" required data-autofocus {...form.text('name')} />
      <TextInput label="Description" {...form.text('description')} />
      {identity === null && <IssuerChoice issuer={form.values.issuer} onChoose={form.enter} />}
      <TextInput
        label="Issuer"
        description="The URL of your CI system, which signs the tokens of jobs."
        required
        inputMode="url"
        spellCheck={false}
        {...form.text('issuer')}
      />
      <ClaimsField claims={form.values.claims} error={form.error} onChange={(claims) => form.enter({ claims })} />
      <TextInput
        label="Audience"
        description="The audience of the tokens of jobs. An empty field is the address of this server."
        spellCheck={false}
        {...form.text('audience')}
      />
      <NumberInput
        label="Lifetime of tokens in minutes"
        required
        allowDecimal={false}
        {...form.choice('token-minutes')}
      />
    </FormDialog>
  );
};

type IdentityProps = DialogProps & { readonly identity: WorkloadIdentity };

const LOSS = 'The tokens that it has issued end at once, and jobs get no new ones.';

export const DisableIdentityDialog = ({ organization, identity: { id, attributes }, onClose }: IdentityProps) => {
  const change = useChangeWorkloadIdentity(organization);
  const enable = () => change.mutate({ id, attributes: { enabled: true } });
  return (
    <ConfirmDialog
      title={`Disable ${attributes.name}`}
      action="Disable"
      change={change}
      onConfirm={() =>
        change.mutate(
          { id, attributes: { enabled: false } },
          reportAndClose(`${attributes.name} is disabled.`, onClose, enable),
        )
      }
      onClose={onClose}
    >
      {LOSS}
    </ConfirmDialog>
  );
};

export const DeleteIdentityDialog = ({ organization, identity: { id, attributes }, onClose }: IdentityProps) => {
  const deletion = useDeleteWorkloadIdentity(organization);
  return (
    <ConfirmDialog
      title={`Delete ${attributes.name}`}
      action="Delete"
      change={deletion}
      onConfirm={() => deletion.mutate(id, reportAndClose(`${attributes.name} is deleted.`, onClose))}
      onClose={onClose}
    >
      {LOSS} You cannot undo this: another identity has another id, which jobs name.
    </ConfirmDialog>
  );
};

const SYSTEMS = { github: 'GitHub Actions', gitlab: 'GitLab CI' } as const;
type System = keyof typeof SYSTEMS;

type UseProps = { readonly identity: WorkloadIdentity; readonly onClose: () => void };

/** Shows the job that gets a token with the identity. */
export const UseIdentityDialog = ({ identity, onClose }: UseProps) => {
  const { name, issuer } = identity.attributes;
  const [system, setSystem] = useState<System>(issuer === GITHUB ? 'github' : 'gitlab');
  const format = system === 'github' ? formatGithubJob : formatGitlabJob;
  return (
    <Dialog size="xl" title={`Use ${name} in a job`} onClose={onClose}>
      <Stack>
        <Text size="sm">Nothing of this is secret. The job gets a token of the team, and terraform uses it.</Text>
        <SegmentedControl
          aria-label="CI system"
          transitionDuration={0}
          data={Object.entries(SYSTEMS).map(([value, label]) => ({ value, label }))}
          value={system}
          onChange={(value) => setSystem(value as System)}
        />
        <CodeBlock label="the job" code={format({ server: window.location.origin, identity })} />
      </Stack>
    </Dialog>
  );
};
