// Go-notices keeps a table of the locked workspaces in memory, serves it at /locked, and prints a notice when a lock changes.
// It reads a state topic from its beginning at each start, so it needs no database and no offsets.
// Try it with: curl localhost:8080/locked
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	// The kind of document that this program reads, and the version of its schema.
	kind          = "workspaces"
	schemaVersion = 1

	timeout = 30 * time.Second

	usage = `Serves the locked workspaces at /locked. /ready responds with 200 when the table is complete.

Settings (environment variables):
  KAFKA_BROKERS   brokers, separated by commas (localhost:9092)
  TOPIC_PREFIX    CADASTRE_TOPIC_PREFIX of the site (cadastre)
  HOST            address to listen on (127.0.0.1)
  PORT            port of the server (8080)
`
)

// document is the part of a workspace that this program needs. The rest of the document may grow at any time.
type document struct {
	Data struct {
		Attributes struct {
			Name   string `json:"name"`
			Locked bool   `json:"locked"`
		} `json:"attributes"`
		Relationships struct {
			Organization struct {
				Data reference `json:"data"`
			} `json:"organization"`
			LockedBy struct {
				Data *reference `json:"data"`
			} `json:"locked-by"`
		} `json:"relationships"`
	} `json:"data"`
}

type reference struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

type lockedWorkspace struct {
	ID           string     `json:"id"`
	Name         string     `json:"name"`
	Organization string     `json:"organization"`
	LockedBy     *reference `json:"locked-by"`
}

// table has the locked workspaces by their id.
type table struct {
	mutex      sync.RWMutex
	isReady    bool
	workspaces map[string]lockedWorkspace
}

var documentType = regexp.MustCompile(`^cadastre\.state\.([a-z-]+)\.v(\d+)$`)

// readType returns the kind of document of a record and the version of its schema.
func readType(record *kgo.Record) (string, int, error) {
	for _, header := range record.Headers {
		if header.Key != "ce_type" {
			continue
		}
		if parts := documentType.FindSubmatch(header.Value); parts != nil {
			version, err := strconv.Atoi(string(parts[2]))
			return string(parts[1]), version, err
		}
	}
	return "", 0, errors.New("it is not from a state topic of Cadastre. Is TOPIC_PREFIX right?")
}

// apply writes the document of a record into the table. A record can come twice, which changes nothing.
func (t *table) apply(record *kgo.Record) error {
	recordKind, version, err := readType(record)
	if err != nil {
		return err
	}
	// A topic can have documents of several kinds.
	if recordKind != kind {
		return nil
	}
	if version != schemaVersion {
		return fmt.Errorf("the document has schema version %d, and this program reads %d: update it", version, schemaVersion)
	}
	id := string(record.Key)
	// A tombstone: the workspace does not exist any more.
	if record.Value == nil {
		t.remove(id)
		return nil
	}
	var workspace document
	if err := json.Unmarshal(record.Value, &workspace); err != nil {
		return err
	}
	data := workspace.Data
	if !data.Attributes.Locked {
		t.remove(id)
		return nil
	}
	t.add(lockedWorkspace{id, data.Attributes.Name, data.Relationships.Organization.Data.ID, data.Relationships.LockedBy.Data})
	return nil
}

func (t *table) add(workspace lockedWorkspace) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	_, wasLocked := t.workspaces[workspace.ID]
	t.workspaces[workspace.ID] = workspace
	// Locks from before the start are served, but not printed.
	if t.isReady && !wasLocked {
		log.Printf("%s/%s was locked", workspace.Organization, workspace.Name)
	}
}

func (t *table) remove(id string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	workspace, wasLocked := t.workspaces[id]
	delete(t.workspaces, id)
	if t.isReady && wasLocked {
		log.Printf("%s/%s is no longer locked", workspace.Organization, workspace.Name)
	}
}

func (t *table) setReady() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.isReady = true
	log.Printf("ready: %d workspaces are locked", len(t.workspaces))
}

// list returns the locked workspaces in the order of their names, and whether the table is complete.
func (t *table) list() ([]lockedWorkspace, bool) {
	t.mutex.RLock()
	defer t.mutex.RUnlock()
	list := make([]lockedWorkspace, 0, len(t.workspaces))
	for _, workspace := range t.workspaces {
		list = append(list, workspace)
	}
	slices.SortFunc(list, func(a, b lockedWorkspace) int {
		return cmp.Or(strings.Compare(a.Organization, b.Organization), strings.Compare(a.Name, b.Name))
	})
	return list, t.isReady
}

func (t *table) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /locked", func(response http.ResponseWriter, _ *http.Request) {
		list, isReady := t.list()
		if !isReady {
			respond(response, http.StatusServiceUnavailable, map[string]string{"error": "the table is not complete yet"})
			return
		}
		respond(response, http.StatusOK, list)
	})
	mux.HandleFunc("GET /ready", func(response http.ResponseWriter, _ *http.Request) {
		_, isReady := t.list()
		status := http.StatusOK
		if !isReady {
			status = http.StatusServiceUnavailable
		}
		respond(response, status, map[string]bool{"ready": isReady})
	})
	return mux
}

func respond(response http.ResponseWriter, status int, body any) {
	response.Header().Set("content-type", "application/json")
	response.WriteHeader(status)
	if err := json.NewEncoder(response).Encode(body); err != nil {
		log.Print(err)
	}
}

// ends has the offset after the last committed record of each partition that was not read up to there.
type ends map[int32]int64

// listEnds returns the partitions that have records at present.
func listEnds(ctx context.Context, client *kgo.Client, topic string) (ends, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	admin := kadm.NewClient(client)
	first, err := admin.ListStartOffsets(ctx, topic)
	if err != nil {
		return nil, err
	}
	last, err := admin.ListCommittedOffsets(ctx, topic)
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(first.Error(), last.Error()); err != nil {
		return nil, fmt.Errorf("%s: %w. Cadastre creates its topics with the first event", topic, err)
	}
	left := ends{}
	last.Each(func(end kadm.ListedOffset) {
		if start, ok := first.Lookup(topic, end.Partition); ok && start.Offset < end.Offset {
			left[end.Partition] = end.Offset
		}
	})
	return left, nil
}

// follow reads the topic until the context ends.
func follow(ctx context.Context, client *kgo.Client, topic string, t *table) error {
	left, err := listEnds(ctx, client, topic)
	if err != nil {
		return err
	}
	if len(left) == 0 {
		t.setReady()
	}
	for {
		fetches := client.PollFetches(ctx)
		if ctx.Err() != nil {
			return nil
		}
		// The client itself retries what can succeed later, such as requests to unavailable brokers.
		if err := fetches.Err(); err != nil {
			return err
		}
		wasReading := len(left) > 0
		for record := range fetches.RecordsAll() {
			if !record.Attrs.IsControl() {
				if err := t.apply(record); err != nil {
					return fmt.Errorf("record %d of %s/%d: %w", record.Offset, topic, record.Partition, err)
				}
			}
			if record.Offset+1 >= left[record.Partition] {
				delete(left, record.Partition)
			}
		}
		if wasReading && len(left) == 0 {
			t.setReady()
		}
	}
}

func run(ctx context.Context, brokers, topic, address string) error {
	// Without a group, each process reads all partitions.
	client, err := kgo.NewClient(
		kgo.ClientID("go-notices"),
		kgo.SeedBrokers(strings.Split(brokers, ",")...),
		kgo.ConsumeTopics(topic),
		kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()),
		// If the topic was deleted and created again, the program ends, and the next start builds the table from the new one.
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		// The last record of a partition is the end of a transaction. The program must see it to know that it has read everything.
		kgo.KeepControlRecords(),
	)
	if err != nil {
		return err
	}
	defer client.Close()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	t := &table{workspaces: map[string]lockedWorkspace{}}
	server := &http.Server{Handler: t.handler(), ReadHeaderTimeout: timeout}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		failed <- server.Serve(listener)
		cancel()
	}()
	log.Printf("http://%s/locked", listener.Addr())
	if err := follow(ctx, client, topic, t); err != nil {
		return err
	}
	select {
	case err := <-failed:
		return err
	default:
	}
	shutdown, cancelShutdown := context.WithTimeout(context.Background(), timeout)
	defer cancelShutdown()
	return server.Shutdown(shutdown)
}

// setting returns an environment variable, or a default if it is absent or empty.
func setting(name, standard string) string {
	return cmp.Or(os.Getenv(name), standard)
}

func main() {
	flag.Usage = func() { fmt.Fprint(flag.CommandLine.Output(), usage) }
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	topic := setting("TOPIC_PREFIX", "cadastre") + ".workspaces.state"
	address := net.JoinHostPort(setting("HOST", "127.0.0.1"), setting("PORT", "8080"))
	if err := run(ctx, setting("KAFKA_BROKERS", "localhost:9092"), topic, address); err != nil {
		log.Fatalf("go-notices: %v", err)
	}
}
