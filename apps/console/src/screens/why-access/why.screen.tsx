import { Alert, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { explanationQuery, type ShownExplanation, type ExplanationSearch } from '../../api/access.js';
import { ApiError } from '../../api/api-error.js';
import { Card } from '../../components/card.js';
import { CheckIcon, CloseIcon } from '../../components/icons.js';
import { Page } from '../../components/page.js';
import { ErrorState, LoadingLines } from '../../components/states.js';
import { TeamTabs } from '../teams/team-tabs.js';
import { parseExplanationRequest } from './why.search.js';
import classes from './why.module.css';

/** The fields load more code than the rest of the screen. */
const ExplanationForm = lazy(async () => ({ default: (await import('./explanation-form.js')).ExplanationForm }));

type Step = ShownExplanation['attributes']['steps'][number];

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
      <span className={classes['hidden']}>{step.gives ? 'Gives it: ' : 'Does not give it: '}</span>
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

const Explanation = ({ explanation }: { readonly explanation: ShownExplanation }) => {
  const { 'is-permitted': isPermitted, steps } = explanation.attributes;
  // What gives the permission comes first.
  const sorted = [...steps.filter(({ gives }) => gives), ...steps.filter(({ gives }) => !gives)];
  return (
    <Stack>
      <Alert
        role="status"
        variant="light"
        color={isPermitted ? 'green' : 'gray'}
        icon={isPermitted ? <CheckIcon /> : <CloseIcon />}
        title={isPermitted ? 'Yes, this is permitted' : 'No, this is not permitted'}
      >
        <Text size="sm">
          {isPermitted
            ? 'The server permits it because of the marked steps. Each of them is enough.'
            : 'None of these steps gives the permission.'}
        </Text>
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

const Answer = ({ organization, search }: { readonly organization: string; readonly search: ExplanationSearch }) => {
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
    <Page
      title="Explain access"
      breadcrumbs={[{ label: organization }, { label: 'Teams', to: `/${organization}/teams` }]}
    >
      <TeamTabs organization={organization} />
      <Stack gap="lg">
        <Suspense fallback={<LoadingLines count={2} height={60} />}>
          <ExplanationForm organization={organization} search={search} onChange={change} />
        </Suspense>
        <Answer organization={organization} search={search} />
      </Stack>
    </Page>
  );
};
