import { Link } from '@tanstack/react-router';
import { useId, type ReactNode } from 'react';
import { WorkspaceIcon } from './icons.js';
import classes from './neighbor-graph.module.css';

/** The height of a node with the gap below it. The style sheet uses it too. */
const ROW = 56;

/** Lines from `count` nodes to the workspace in the middle. The lists contain the same for screen readers. */
const Lines = ({ count, height, mirrored }: { count: number; height: number; mirrored: boolean }) => {
  const top = (height - count * ROW) / 2;
  return (
    <svg
      className={classes['lines']}
      data-mirrored={mirrored || undefined}
      viewBox={`0 0 100 ${height}`}
      height={height}
      preserveAspectRatio="none"
      aria-hidden="true"
      focusable="false"
    >
      {Array.from({ length: count }, (_, index) => {
        const y = top + (index + 0.5) * ROW;
        return <path key={index} d={`M0 ${y} C55 ${y} 45 ${height / 2} 100 ${height / 2}`} />;
      })}
    </svg>
  );
};

type Neighbor = { readonly id: string; readonly name: string; readonly note?: string };

/** The workspaces on one side of the graph. */
type NeighborSide = {
  readonly title: string;
  /** The text instead of a list without workspaces. */
  readonly nothing: string;
  readonly neighbors: readonly Neighbor[];
  readonly more?: ReactNode;
};

/** `screen`: the screen of a workspace to which its node leads. */
type LinkTarget = { readonly organization: string; readonly screen: 'state' | 'runs' };

const Node = ({ organization, screen, neighbor: { name, note } }: LinkTarget & { readonly neighbor: Neighbor }) => (
  <li className={classes['row']}>
    <Link
      to={`/$organization/workspaces/$workspace/${screen}`}
      params={{ organization, workspace: name }}
      className={classes['node']}
      title={name}
    >
      <span className={classes['name']}>{name}</span>
      {note && <span className={classes['note']}>{note}</span>}
    </Link>
  </li>
);

const Side = ({ title, nothing, neighbors, more, ...target }: NeighborSide & LinkTarget) => {
  const id = useId();
  return (
    <section className={classes['side']} aria-labelledby={id}>
      <h3 className={classes['title']} id={id}>
        {title}
      </h3>
      {neighbors.length === 0 ? (
        <p className={classes['nothing']}>{nothing}</p>
      ) : (
        <ul className={classes['nodes']}>
          {neighbors.map((neighbor) => (
            <Node key={neighbor.id} {...target} neighbor={neighbor} />
          ))}
        </ul>
      )}
      {more}
    </section>
  );
};

type NeighborGraphProps = LinkTarget & {
  /** The name of the workspace in the middle. */
  readonly name: string;
  readonly left: NeighborSide;
  readonly right: NeighborSide;
};

/** A workspace between the workspaces that lead to it and those to which it leads. */
export const NeighborGraph = ({ name, left, right, ...target }: NeighborGraphProps) => {
  const height = Math.max(left.neighbors.length, right.neighbors.length, 1) * ROW;
  return (
    <div className={classes['graph']}>
      <Side {...left} {...target} />
      <Lines count={left.neighbors.length} height={height} mirrored={false} />
      <div className={classes['middle']}>
        <WorkspaceIcon size={16} />
        <span className={classes['name']} title={name}>
          {name}
        </span>
      </div>
      <Lines count={right.neighbors.length} height={height} mirrored />
      <Side {...right} {...target} />
    </div>
  );
};
