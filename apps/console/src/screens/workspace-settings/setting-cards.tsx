import { useLocation } from '@tanstack/react-router';
import { useLayoutEffect, type ComponentType } from 'react';
import { DangerCard } from './danger-card.js';
import { DestructionCard } from './destruction-card.js';
import { ExecutionCard } from './execution-card.js';
import { OutputCard } from './output-card.js';
import { PolicySetsCard } from './policy-sets-card.js';
import { ProjectCard } from './project-card.js';
import { RepositoryCard } from './repository-card.js';
import { RetentionCard } from './retention-card.js';
import { RunTasksCard } from './run-tasks-card.js';
import { RunTriggersCard } from './run-triggers-card.js';
import type { SettingPart, WorkspaceCardProps } from './setting-card.js';
import { SharingCard } from './sharing-card.js';
import { SshKeyCard } from './ssh-key-card.js';
import classes from './workspace-settings.module.css';

const CARDS: Readonly<Record<Exclude<SettingPart, 'general'>, ComponentType<WorkspaceCardProps>>> = {
  project: ProjectCard,
  execution: ExecutionCard,
  sharing: SharingCard,
  'run-triggers': RunTriggersCard,
  'run-tasks': RunTasksCard,
  'policy-sets': PolicySetsCard,
  retention: RetentionCard,
  'ssh-key': SshKeyCard,
  repository: RepositoryCard,
  destruction: DestructionCard,
  output: OutputCard,
  delete: DangerCard,
};

/** All cards but the first. */
export const SettingCards = (props: WorkspaceCardProps) => {
  const hash = useLocation({ select: (location) => location.hash });
  // The cards have just appeared, so the router could not find the one that the address names.
  useLayoutEffect(() => {
    document.querySelector(`#${CSS.escape(hash || 'none')}`)?.scrollIntoView();
  }, [hash]);
  return Object.entries(CARDS).map(([id, Card]) => (
    <div key={id} id={id} className={classes['part']}>
      <Card {...props} />
    </div>
  ));
};
