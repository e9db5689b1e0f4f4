package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

const toleranceSeconds = 300

// VerifyBody checks X-Marketplace-Signature. The body is the request's raw bytes; secrets are all current secrets.
func VerifyBody(body []byte, signature string, secrets []string) bool {
	for _, secret := range secrets {
		expected := hex.EncodeToString(sign([]byte(secret), body))
		if secret != "" && hmac.Equal([]byte(expected), []byte(signature)) {
			return true
		}
	}
	return false
}

// VerifyStandard checks webhook-id, webhook-timestamp and webhook-signature.
func VerifyStandard(id, timestamp, signature string, body []byte, secrets []string, now time.Time) bool {
	// ParseUint accepts digits only; ParseInt also accepts a sign.
	seconds, err := strconv.ParseUint(timestamp, 10, 40)
	if err != nil || id == "" || strings.Contains(id, ".") {
		return false
	}
	if age := now.Unix() - int64(seconds); age > toleranceSeconds || age < -toleranceSeconds {
		return false
	}

	content := append([]byte(id+"."+timestamp+"."), body...)
	for _, secret := range secrets {
		key := keyOf(secret)
		expected := "v1," + base64.StdEncoding.EncodeToString(sign(key, content))
		for _, given := range strings.Split(signature, " ") {
			if len(key) > 0 && hmac.Equal([]byte(expected), []byte(given)) {
				return true
			}
		}
	}
	return false
}

func sign(key, content []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(content)
	return mac.Sum(nil)
}

func keyOf(secret string) []byte {
	encoded, isStandard := strings.CutPrefix(secret, "whsec_")
	if !isStandard {
		return []byte(secret)
	}
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil
	}
	return key
}

// Test code, not part of the snippet: go run verify_webhook.go vectors.json

type vector struct {
	Name, Secret, ID, Timestamp, Body, Signature string
	Secrets                                      []string
	Now                                          int64
	Valid                                        bool
}

func main() {
	var vectors struct{ Marketplace, Standard []vector }
	text, err := os.ReadFile(os.Args[1])
	if err == nil {
		err = json.Unmarshal(text, &vectors)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}

	wrong := 0
	check := func(v vector, accepted bool) {
		if accepted != v.Valid {
			wrong++
			fmt.Println("wrong:", v.Name)
		}
	}
	for _, v := range vectors.Marketplace {
		check(v, VerifyBody([]byte(v.Body), v.Signature, []string{v.Secret}))
	}
	for _, v := range vectors.Standard {
		check(v, VerifyStandard(v.ID, v.Timestamp, v.Signature, []byte(v.Body), v.Secrets, time.Unix(v.Now, 0)))
	}
	fmt.Printf("%d vectors, %d wrong\n", len(vectors.Marketplace)+len(vectors.Standard), wrong)
	if wrong > 0 {
		os.Exit(1)
	}
}
