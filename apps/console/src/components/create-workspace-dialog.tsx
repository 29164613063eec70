import { TagsInput, Textarea, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ApiError } from '../api/api-error.js';
import { organizationQuery } from '../api/organizations.js';
import { projectSuggestionsQuery } from '../api/projects.js';
import { useCreateWorkspace, type NewWorkspace } from '../api/workspace-creation.js';
import { useForm } from './form.js';
import { FormDialog } from './form-dialog.js';
import { KEY_RULE } from './key-rule.js';
import { ProjectSelect } from './project-select.js';
import { formatTag, parseTag } from './tag-text.js';
import { showToast } from '../toasts.js';

const TAG_FIELDS = ['key', 'value', 'tag-bindings'];

/** Returns why tags were refused, each with the tag. */
const findTagProblem = (error: Error | null, tags: NewWorkspace['tags'] = []): string | null => {
  if (!(error instanceof ApiError)) return null;
  const problems = error.problems.filter(({ field }) => field !== null && TAG_FIELDS.includes(field));
  const texts = problems.map(({ detail, pointer }) => {
    const tag = tags[Number(/tag-bindings\/data\/(\d+)\//.exec(pointer ?? '')?.[1] ?? Number.NaN)];
    return tag ? `${formatTag(tag)}: ${detail}` : detail;
  });
  return texts.join('. ') || null;
};

/** A key has one value: the one that was entered last. */
const keepLastOfEachKey = (texts: readonly string[]): readonly string[] => [
  ...new Map(texts.map((text) => [parseTag(text).key, text])).values(),
];

/** Returns the project that the person most likely means, and whether the person may create workspaces in every project. */
const useSuggestedProject = (organization: string, preferred: string | undefined) => {
  const { data } = useQuery(organizationQuery(organization));
  const { data: permitted = [] } = useQuery(projectSuggestionsQuery(organization, '', 'create-workspace'));
  if (data?.attributes.permissions['can-create-workspace']) {
    return { isEverywhere: true, project: preferred ?? data.relationships['default-project'].data?.id ?? null };
  }
  const only = permitted.length === 1 ? permitted[0] : undefined;
  const project = permitted.find(({ id }) => id === preferred) ?? only;
  return { isEverywhere: false, project: project?.id ?? null };
};

type CreateWorkspaceDialogProps = {
  readonly organization: string;
  readonly project: string | undefined;
  readonly onClose: () => void;
};

/** `tags`: texts like `env=prod`. */
type WorkspaceFields = {
  readonly name: string;
  readonly project: string | null;
  readonly description: string;
  readonly tags: readonly string[];
};

type TagsFieldProps = {
  readonly value: readonly string[];
  readonly error: string | null;
  readonly onChange: (tags: readonly string[]) => void;
};

const TagsField = ({ value, error, onChange }: TagsFieldProps) => (
  <TagsInput
    label="Tags"
    description={`key=value, then Enter. A key alone is a tag without a value. Key: ${KEY_RULE}`}
    placeholder={value.length === 0 ? 'env=prod' : ''}
    clearable
    clearButtonProps={{ 'aria-label': 'Clear the tags' }}
    // A value can contain a comma.
    splitChars={[]}
    value={[...value]}
    onChange={(values) => onChange(keepLastOfEachKey(values))}
    error={error}
  />
);

const useWorkspaceForm = ({ organization, project: preferred }: CreateWorkspaceDialogProps) => {
  const navigate = useNavigate();
  const { isEverywhere, project } = useSuggestedProject(organization, preferred);
  const creation = useCreateWorkspace(organization);
  const present: WorkspaceFields = { name: '', description: '', tags: [], project };
  const form = useForm(present, creation);
  return {
    form: { ...form, fields: [...form.fields, ...TAG_FIELDS] },
    isEverywhere,
    tagProblem: findTagProblem(creation.error, creation.variables?.tags),
    create: () => {
      const workspace = { ...form.trimmed, tags: form.values.tags.map(parseTag) };
      const onSuccess = () => {
        showToast({ kind: 'success', message: `The workspace ${workspace.name} is created.` });
        const params = { organization, workspace: workspace.name };
        void navigate({ to: '/$organization/workspaces/$workspace', params });
      };
      creation.mutate(workspace, { onSuccess });
    },
  };
};

/** Creates a workspace, and opens it. Its overview shows the block that connects a configuration to it. */
export const CreateWorkspaceDialog = (props: CreateWorkspaceDialogProps) => {
  const { form, isEverywhere, tagProblem, create } = useWorkspaceForm(props);
  return (
    <FormDialog title="New workspace" action="Create" form={form} onSubmit={create} onClose={props.onClose}>
      <TextInput
        label="Name"
        description="Letters, digits, hyphens and underscores."
        required
        data-autofocus
        {...form.text('name')}
      />
      <ProjectSelect
        organization={props.organization}
        label="Project"
        placeholder={isEverywhere ? 'The default project' : 'Choose a project'}
        required={!isEverywhere}
        suggested="create-workspace"
        {...form.choice('project')}
      />
      <Textarea label="Description" autosize minRows={2} maxRows={8} {...form.text('description')} />
      <TagsField {...form.choice('tags')} error={tagProblem} />
    </FormDialog>
  );
};
