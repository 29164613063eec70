// Verifies a log of an audit trail with the libraries of the Go project and of transparency.dev, and with nothing of Cadastre.
//
//	foreign-verifiers log FOLDER VERIFIER-KEY [EARLIER-CHECKPOINT]
//	foreign-verifiers proof FILE VERIFIER-KEY LEAF
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/transparency-dev/formats/proof"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Tiles of C2SP have 256 hashes.
const tileHeight = 8

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("Successfully verified")
}

func run(args []string) error {
	if len(args) < 3 {
		return errors.New("name a command, a file or folder, and a verifier key")
	}
	verifier, err := note.NewVerifier(args[2])
	if err != nil {
		return err
	}
	switch {
	case args[0] == "log":
		return verifyLog(args[1], verifier, args[3:])
	case args[0] == "proof" && len(args) == 4:
		return verifyProof(args[1], verifier, args[3])
	}
	return fmt.Errorf("unknown command %q", args[0])
}

func openCheckpoint(message []byte, verifier note.Verifier) (tlog.Tree, error) {
	opened, err := note.Open(message, note.VerifierList(verifier))
	if err != nil {
		return tlog.Tree{}, err
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) != 4 || lines[0] != verifier.Name() {
		return tlog.Tree{}, fmt.Errorf("unexpected checkpoint %q", opened.Text)
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil {
		return tlog.Tree{}, err
	}
	root, err := base64.StdEncoding.DecodeString(lines[2])
	if err != nil || len(root) != sha256.Size {
		return tlog.Tree{}, fmt.Errorf("unexpected root %q", lines[2])
	}
	return tlog.Tree{N: size, Hash: tlog.Hash(root)}, nil
}

func verifyLog(folder string, verifier note.Verifier, earlier []string) error {
	message, err := os.ReadFile(filepath.Join(folder, "checkpoint"))
	if err != nil {
		return err
	}
	tree, err := openCheckpoint(message, verifier)
	if err != nil {
		return err
	}
	// The reader of the library verifies the tiles with the root of the checkpoint.
	reader := tlog.TileHashReader(tree, folderReader(folder))
	for index := int64(0); index < tree.N; {
		entries, err := readBundle(folder, index/256, tree.N)
		if err != nil {
			return err
		}
		for _, entry := range entries {
			hashes, err := reader.ReadHashes([]int64{tlog.StoredHashIndex(0, index)})
			if err != nil {
				return err
			}
			if hashes[0] != tlog.RecordHash(entry) {
				return fmt.Errorf("entry %d is not the one of the tree", index)
			}
			index++
		}
	}
	for _, file := range earlier {
		message, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		before, err := openCheckpoint(message, verifier)
		if err != nil {
			return err
		}
		treeProof, err := tlog.ProveTree(tree.N, before.N, reader)
		if err != nil {
			return err
		}
		if err := tlog.CheckTree(treeProof, tree.N, tree.Hash, before.N, before.Hash); err != nil {
			return err
		}
	}
	return nil
}

func verifyProof(file string, verifier note.Verifier, leafFile string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	leaf, err := os.ReadFile(leafFile)
	if err != nil {
		return err
	}
	var parsed proof.TLogProof
	if err := parsed.Unmarshal(text); err != nil {
		return err
	}
	if !bytes.Equal(parsed.Marshal(), text) {
		return errors.New("the library writes another text for this proof")
	}
	tree, err := openCheckpoint(parsed.Checkpoint, verifier)
	if err != nil {
		return err
	}
	hashes := make(tlog.RecordProof, len(parsed.Hashes))
	for i, hash := range parsed.Hashes {
		hashes[i] = tlog.Hash(hash)
	}
	return tlog.CheckRecord(hashes, tree.N, tree.Hash, int64(parsed.Index), tlog.RecordHash(leaf))
}

// tilePath returns the path of C2SP, which lacks the height in that of the library.
func tilePath(kind string, index int64, width int64) string {
	path := fmt.Sprintf("%03d", index%1000)
	for index /= 1000; index > 0; index /= 1000 {
		path = fmt.Sprintf("x%03d/%s", index%1000, path)
	}
	if width < 256 {
		path += fmt.Sprintf(".p/%d", width)
	}
	return "tile/" + kind + "/" + path
}

func readBundle(folder string, index int64, size int64) ([][]byte, error) {
	width := min(256, size-index*256)
	data, err := os.ReadFile(filepath.Join(folder, tilePath("entries", index, width)))
	if err != nil {
		return nil, err
	}
	var entries [][]byte
	for len(data) > 0 {
		if len(data) < 2 || len(data) < 2+int(binary.BigEndian.Uint16(data)) {
			return nil, fmt.Errorf("bundle %d is malformed", index)
		}
		end := 2 + int(binary.BigEndian.Uint16(data))
		entries = append(entries, data[2:end])
		data = data[end:]
	}
	if int64(len(entries)) != width {
		return nil, fmt.Errorf("bundle %d has %d entries instead of %d", index, len(entries), width)
	}
	return entries, nil
}

type folderReader string

func (folder folderReader) Height() int { return tileHeight }

func (folder folderReader) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	var contents [][]byte
	for _, tile := range tiles {
		path := tilePath(strconv.Itoa(tile.L), tile.N, int64(tile.W))
		content, err := os.ReadFile(filepath.Join(string(folder), path))
		if err != nil {
			return nil, err
		}
		contents = append(contents, content)
	}
	return contents, nil
}

func (folder folderReader) SaveTiles([]tlog.Tile, [][]byte) {}
