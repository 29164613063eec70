import { Alert, Stack, Text, VisuallyHidden } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { explanationQuery, type ShownExplanation, type ExplanationSearch } from '../../api/access.js';
import { ApiError } from '../../api/api-error.js';
import { Card } from '../../components/card.js';
import { CheckIcon, CloseIcon } from '../../components/icons.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { Page } from '../../components/page.js';
import { ErrorState, LoadingLines } from '../../components/states.js';
import { TeamTabs } from '../teams/team-tabs.js';
import { parseExplanationRequest } from './why.search.js';
import classes from './why.module.css';

/** The fields load more code than the rest of the screen. */
const ExplanationForm = lazyComponent(
  () => import('./explanation-form.js'),
  'ExplanationForm',
  <LoadingLines count={2} height={60} />,
);

type Attributes = ShownExplanation['attributes'];
type Step = Attributes['steps'][number];
type PermittedOn = NonNullable<Attributes['permitted-on']>;

const SOURCES: Readonly<Record<Step['source'], string>> = {
  account: 'Account',
  site: 'Site',
  membership: 'Membership',
  'organization-access': 'Organization access',
  'project-access': 'Project access',
  'workspace-access': 'Workspace access',
};

const StepItem = ({ step }: { readonly step: Step }) => (
  <li className={classes['step']} data-gives={step.gives ? '' : undefined}>
    <span className={classes['icon']}>{step.gives ? <CheckIcon size={16} /> : <CloseIcon size={16} />}</span>
    <div>
      <VisuallyHidden>{step.gives ? 'Gives it: ' : 'Does not give it: '}</VisuallyHidden>
      {step.detail}
      <div className={classes['source']}>{SOURCES[step.source]}</div>
    </div>
  </li>
);

const Sufficient = ({ attributes }: ShownExplanation) => {
  const { 'sufficient-levels': levels, 'sufficient-roles': roles } = attributes;
  return (
    <Card title="What would be enough">
      <Text size="sm">Each one of these alone gives the permission.</Text>
      {levels.length > 0 && (
        <Text size="sm">
          <b>Level of a team:</b> {levels.join(', ')}
        </Text>
      )}
      <Text size="sm">
        <b>Role in the organization:</b> {roles.join(', ')}
      </Text>
    </Card>
  );
};

type Verdict = { readonly verdict: 'yes' | 'some' | 'no'; readonly title: string; readonly detail: string };

const NOUNS = { 'every-workspace': 'workspace', 'every-project': 'project' } as const;

/** Returns the verdict of an explanation about every workspace or project. */
const decideVerdictForAll = ({ total, permitted }: PermittedOn, noun: string, isPermitted: boolean): Verdict => {
  if (isPermitted) {
    const detail = 'The marked steps give it in the whole organization. Each of them is enough.';
    return { verdict: 'yes', title: `Yes, on every ${noun}, also on new ones`, detail };
  }
  if (permitted === 0) {
    return { verdict: 'no', title: `No, on no ${noun}`, detail: 'None of these steps gives the permission.' };
  }
  const title =
    permitted === total
      ? `On all ${noun}s that exist now (${total}), but not on new ones`
      : `On some ${noun}s: ${permitted} of ${total}`;
  return { verdict: 'some', title, detail: `Choose one of the ${noun}s to see the access that gives it.` };
};

const decideVerdict = ({ scope, 'is-permitted': isPermitted, 'permitted-on': permittedOn }: Attributes): Verdict => {
  if (permittedOn && (scope === 'every-workspace' || scope === 'every-project'))
    return decideVerdictForAll(permittedOn, NOUNS[scope], isPermitted);
  return isPermitted
    ? {
        verdict: 'yes',
        title: 'Yes, this is permitted',
        detail: 'The server permits it because of the marked steps. Each of them is enough.',
      }
    : { verdict: 'no', title: 'No, this is not permitted', detail: 'None of these steps gives the permission.' };
};

const COLORS = { yes: 'green', some: 'yellow', no: 'gray' } as const;

/** Names some of the resources with the permission. */
const PermittedExamples = ({ permittedOn }: { readonly permittedOn: PermittedOn }) => {
  const { permitted, examples } = permittedOn;
  const more = permitted - examples.length;
  return (
    <Text size="sm">
      {examples.map(({ name }) => name).join(', ')}
      {more > 0 ? ` and ${more} more` : ''}
    </Text>
  );
};

const Explanation = ({ explanation }: { readonly explanation: ShownExplanation }) => {
  const { steps, 'permitted-on': permittedOn } = explanation.attributes;
  const { verdict, title, detail } = decideVerdict(explanation.attributes);
  // What gives the permission comes first.
  const sorted = [...steps.filter(({ gives }) => gives), ...steps.filter(({ gives }) => !gives)];
  return (
    <Stack>
      <Alert
        role="status"
        variant="light"
        color={COLORS[verdict]}
        icon={verdict === 'no' ? <CloseIcon /> : <CheckIcon />}
        title={title}
      >
        <Text size="sm">{detail}</Text>
        {verdict === 'some' && permittedOn && <PermittedExamples permittedOn={permittedOn} />}
      </Alert>
      <Card title="Step by step">
        <ol className={classes['steps']}>
          {sorted.map((step, index) => (
            <StepItem key={index} step={step} />
          ))}
        </ol>
      </Card>
      <Sufficient {...explanation} />
    </Stack>
  );
};

const NotExplained = () => (
  <Alert variant="light" color="gray" title="You may not see this explanation" role="status">
    <Text size="sm">
      Owners of the organization can have the access of everybody explained. You can have your own access explained, on
      everything that you may read.
    </Text>
  </Alert>
);

const ExplanationAnswer = ({
  organization,
  search,
}: {
  readonly organization: string;
  readonly search: ExplanationSearch;
}) => {
  const isComplete = (search.user ?? search.team) !== undefined && search.permission !== undefined;
  const query = useQuery({ ...explanationQuery(organization, search), enabled: isComplete });
  if (!isComplete) {
    return (
      <Text size="sm" c="dimmed">
        Choose a person or a team, and an action. The server then shows which access gives the permission, and which
        does not.
      </Text>
    );
  }
  if (query.data) return <Explanation explanation={query.data} />;
  if (query.error instanceof ApiError && query.error.isNotFound) return <NotExplained />;
  if (query.error) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  return <LoadingLines count={5} height={36} />;
};

/** Explains the permissions of a person or a team. */
export const WhyScreen = () => {
  const { organization } = useParams({ from: '/$organization/teams/why' });
  const search = useSearch({ from: '/$organization/teams/why' });
  const navigate = useNavigate({ from: '/$organization/teams/why' });
  const change = (next: ExplanationSearch) => void navigate({ search: parseExplanationRequest(next), replace: true });
  return (
    <Page title="Explain access">
      <TeamTabs organization={organization} />
      <Stack gap="lg">
        <ExplanationForm organization={organization} search={search} onChange={change} />
        <ExplanationAnswer organization={organization} search={search} />
      </Stack>
    </Page>
  );
};
