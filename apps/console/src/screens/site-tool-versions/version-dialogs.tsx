import { Checkbox, Text, Textarea, TextInput } from '@mantine/core';
import {
  useAddToolVersion,
  useChangeToolVersion,
  useDeleteToolVersion,
  type ToolVersion,
  type ListedVersionType,
} from '../../api/tool-versions.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { listChanges, useForm } from '../../components/form.js';
import { FormDialog } from '../../components/form-dialog.js';
import { reportAndClose } from '../../toasts.js';
import { VERSION_ACTIONS, type ToolVersionAction } from './version-actions.js';
import { PROGRAM_WORDS } from './version-programs.js';

type VersionForm = ReturnType<typeof useForm<typeof NO_ARCHIVE>>;

const NO_ARCHIVE = { url: '', sha: '', official: false, beta: false };

type FieldsProps = { readonly form: Pick<VersionForm, 'text' | 'checkbox'>; readonly type: ListedVersionType };

const VersionFields = ({ form, type }: FieldsProps) => (
  <>
    <TextInput
      label={PROGRAM_WORDS[type].archive}
      description={PROGRAM_WORDS[type].archiveHelp}
      placeholder={PROGRAM_WORDS[type].exampleUrl}
      {...form.text('url')}
    />
    <TextInput
      label="SHA-256 checksum"
      description="64 hexadecimal digits. Executors compare the download with it."
      {...form.text('sha')}
    />
    <Checkbox
      label="Official"
      description="A release of the publisher. It cannot be deleted."
      {...form.checkbox('official')}
    />
    <Checkbox label="Beta" description="A preview of a release." {...form.checkbox('beta')} />
  </>
);

const toText = (text: string): string | null => (text === '' ? null : text);

/** Adds a release that the server does not list, or a build of one’s own. */
export const AddVersionDialog = ({
  type,
  onClose,
}: {
  readonly type: ListedVersionType;
  readonly onClose: () => void;
}) => {
  const { exampleVersion } = PROGRAM_WORDS[type];
  const change = useAddToolVersion();
  const form = useForm({ version: '', ...NO_ARCHIVE }, change);
  const { version, url, sha, official, beta } = form.trimmed;
  const attributes = { version, url: toText(url), sha: toText(sha), official, beta };
  return (
    <FormDialog
      title="Add a version"
      action="Add"
      form={form}
      onSubmit={() => change.mutate({ type, attributes }, reportAndClose(`${version} is added.`, onClose))}
      onClose={onClose}
    >
      <TextInput
        label="Version"
        description={`A release such as ${exampleVersion}, or a build of your own such as ${exampleVersion}-acme.1.`}
        required
        data-autofocus
        {...form.text('version')}
      />
      <VersionFields form={form} type={type} />
    </FormDialog>
  );
};

type ActionProps = { readonly version: ToolVersion; readonly onClose: () => void };

const ChangeVersionDialog = ({ version, onClose }: ActionProps) => {
  const { attributes, type } = version;
  const { title, done } = VERSION_ACTIONS.change;
  const change = useChangeToolVersion();
  const { official, beta } = attributes;
  // The archives of a publisher have no checksum here. They are no setting of the site.
  const own = attributes.sha === null ? null : attributes.url;
  const present = { url: own ?? '', sha: attributes.sha ?? '', official, beta };
  const form = useForm(present, change);
  const { url, sha, ...flags } = listChanges(present, form.trimmed);
  const archive =
    url === undefined && sha === undefined ? {} : { url: toText(form.trimmed.url), sha: toText(form.trimmed.sha) };
  const others = attributes.archs.filter(({ sha }) => sha !== null).length > (own === null ? 0 : 1);
  return (
    <FormDialog
      title={title(attributes.version)}
      action="Save"
      form={form}
      onSubmit={() =>
        change.mutate(
          { version, attributes: { ...archive, ...flags } },
          reportAndClose(done(attributes.version), onClose),
        )
      }
      onClose={onClose}
      {...(others
        ? {
            intro: (
              <Text size="sm">
                The version has archives for other platforms. If you change this one, they are removed.
              </Text>
            ),
          }
        : {})}
    >
      <VersionFields form={form} type={type} />
    </FormDialog>
  );
};

const DeprecateDialog = ({ version, onClose }: ActionProps) => {
  const { attributes, type } = version;
  const { title, done } = VERSION_ACTIONS.deprecate;
  const change = useChangeToolVersion();
  const form = useForm({ 'deprecated-reason': '' }, change);
  const reason = toText(form.trimmed['deprecated-reason']);
  return (
    <FormDialog
      title={title(attributes.version)}
      action="Deprecate"
      form={form}
      onSubmit={() =>
        change.mutate(
          { version, attributes: { deprecated: true, 'deprecated-reason': reason } },
          reportAndClose(done(attributes.version), onClose),
        )
      }
      onClose={onClose}
    >
      <Text size="sm">{PROGRAM_WORDS[type].effects.deprecate}</Text>
      <Textarea
        label="Reason"
        description="What people should do instead."
        data-autofocus
        {...form.text('deprecated-reason')}
      />
    </FormDialog>
  );
};

const CHANGES = {
  enable: { enabled: true },
  disable: { enabled: false },
  restore: { deprecated: false },
} as const;

const ConfirmActionDialog = ({
  version,
  action,
  onClose,
}: ActionProps & { readonly action: keyof typeof CHANGES | 'delete' }) => {
  const { attributes, type } = version;
  const words = VERSION_ACTIONS[action];
  const change = useChangeToolVersion();
  const deletion = useDeleteToolVersion();
  const report = reportAndClose(words.done(attributes.version), onClose);
  const confirm = (): void => {
    if (action === 'delete') deletion.mutate(version, report);
    else change.mutate({ version, attributes: CHANGES[action] }, report);
  };
  return (
    <ConfirmDialog
      title={words.title(attributes.version)}
      action={words.action}
      isDangerous={action === 'delete' || action === 'disable'}
      change={action === 'delete' ? deletion : change}
      onConfirm={confirm}
      onClose={onClose}
    >
      {PROGRAM_WORDS[type].effects[action]}
    </ConfirmDialog>
  );
};

/** The dialog of an action on a version. */
export const VersionActionDialog = ({ action, ...props }: ActionProps & { readonly action: ToolVersionAction }) => {
  if (action === 'change') return <ChangeVersionDialog {...props} />;
  if (action === 'deprecate') return <DeprecateDialog {...props} />;
  return <ConfirmActionDialog {...props} action={action} />;
};
