import { TextInput } from '@mantine/core';
import { useChangeProjectTag, type Project, type ProjectTag } from '../../api/projects.js';
import { formatCount } from '../../components/counts.js';
import { useForm } from '../../components/form.js';
import { FormDialog } from '../../components/form-dialog.js';
import { KEY_RULE } from '../../components/key-rule.js';
import { PendingButton } from '../../components/pending-button.js';
import { formatTag } from '../../components/tag-text.js';
import { reportAndClose } from '../../toasts.js';

type DialogProps = {
  readonly organization: string;
  readonly project: Project;
  /** Null: a new tag. */
  readonly tag: Pick<ProjectTag, 'key' | 'value'> | null;
  readonly onClose: () => void;
};

/** Adds, changes or removes a tag of a project. */
export const ProjectTagDialog = ({ organization, project: { id, attributes }, tag, onClose }: DialogProps) => {
  const change = useChangeProjectTag(organization, id);
  const form = useForm({ key: tag?.key ?? '', value: tag?.value ?? '' }, change);
  const { trimmed } = form;
  const save = () => {
    const undo = () => change.mutate(tag ? { kind: 'bind', ...tag } : { kind: 'unbind', ...trimmed });
    change.mutate(
      { kind: 'bind', ...trimmed },
      reportAndClose(`The project has the tag ${formatTag(trimmed)}.`, onClose, undo),
    );
  };
  const remove = (present: NonNullable<typeof tag>) => {
    const undo = () => change.mutate({ kind: 'bind', ...present });
    const message = `The project no longer has the tag ${present.key}.`;
    change.mutate({ kind: 'unbind', ...present }, reportAndClose(message, onClose, undo));
  };
  return (
    <FormDialog
      title={tag ? `${attributes.name}: tag ${tag.key}` : `New tag of ${attributes.name}`}
      action="Save"
      form={form}
      onSubmit={save}
      onClose={onClose}
    >
      {tag === null && <TextInput label="Key" description={KEY_RULE} required data-autofocus {...form.text('key')} />}
      <TextInput
        label="Value"
        description={`It applies to ${formatCount(attributes['workspace-count'], 'workspace')}, besides those with a value of their own.`}
        data-autofocus={tag === null ? undefined : true}
        {...form.text('value')}
      />
      {tag && (
        <div>
          <PendingButton
            variant="light"
            color="red"
            size="compact-sm"
            isPending={change.isPending}
            onClick={() => remove({ key: tag.key, value: tag.value })}
          >
            Remove the tag
          </PendingButton>
        </div>
      )}
    </FormDialog>
  );
};
