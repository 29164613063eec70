import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { firstProjectsQuery } from '../../api/home.js';
import { usePermission } from '../../api/organizations.js';
import { Card } from '../../components/card.js';
import { formatCount } from '../../components/counts.js';
import { CreateButton } from '../../components/create-button.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { LoadingLines, QueryState } from '../../components/states.js';
import { More, Nothing, type CardProps } from './home-cards.js';
import classes from './home.module.css';

const CreateProjectDialog = lazyComponent(() => import('./create-project-dialog.js'), 'CreateProjectDialog');

const NO_CREATION = 'You need a team that may manage projects, or to be an owner of the organization.';

const NewProjectButton = ({ organization }: CardProps) => {
  const [isOpen, dialog] = useDisclosure(false);
  return (
    <>
      <CreateButton
        label="New project"
        size="compact-sm"
        variant="default"
        isPermitted={usePermission(organization, 'can-create-project')}
        reason={NO_CREATION}
        onClick={dialog.open}
      />
      {isOpen && <CreateProjectDialog organization={organization} onClose={dialog.close} />}
    </>
  );
};

/** The projects that the person may read. */
export const ProjectsCard = ({ organization }: CardProps) => {
  const query = useQuery(firstProjectsQuery(organization));
  return (
    <Card title="Projects" actions={<NewProjectButton organization={organization} />}>
      <QueryState query={query} what="organization" loading={<LoadingLines count={3} height={16} />}>
        {({ rows, total }) =>
          rows.length === 0 ? (
            <Nothing>You may read no project.</Nothing>
          ) : (
            <>
              <ul className={classes['rows']}>
                {rows.map(({ id, name, workspaceCount }) => (
                  <li key={id} className={classes['row']}>
                    <Link
                      to="/$organization/projects/$project"
                      params={{ organization, project: id }}
                      className={classes['name']}
                    >
                      {name}
                    </Link>
                    <span className={classes['time']}>{formatCount(workspaceCount, 'workspace')}</span>
                  </li>
                ))}
              </ul>
              <More count={rows.length} total={total} what="project" />
            </>
          )
        }
      </QueryState>
    </Card>
  );
};
