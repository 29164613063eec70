// An identity provider with SAML 2.0 on this machine. It prints its address when it is ready.
package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/crewjam/saml/samlidp"
)

func createCertificate(key *rsa.PrivateKey) (*x509.Certificate, error) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "SAML provider of a test"},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(24 * time.Hour),
	}
	encoded, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(encoded)
}

func run() error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	certificate, err := createCertificate(key)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := url.URL{Scheme: "http", Host: fmt.Sprintf("localhost:%d", listener.Addr().(*net.TCPAddr).Port)}
	server, err := samlidp.New(samlidp.Options{
		URL:         address,
		Key:         key,
		Certificate: certificate,
		Store:       &samlidp.MemoryStore{},
	})
	if err != nil {
		return err
	}
	fmt.Println(address.String())
	return http.Serve(listener, server)
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}
