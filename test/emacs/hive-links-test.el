;;; hive-links-test.el --- Addresses in text from agents  -*- lexical-binding: t; -*-

;; Tags: untrusted

(require 'hive-links)
(require 'hive-prompt)
(require 'hive-test-help)

(defun hive-links-test-found (text)
  "Return the buttons of TEXT, made inert: their text, their address and their note."
  (with-temp-buffer
    (insert (hive-text-inert text))
    (hive-links-activate (point-min) (point-max))
    (let ((at (point-min)) found)
      (while (setq at (text-property-not-all at (point-max) 'hive-address nil))
        (let ((end (next-single-property-change at 'hive-address nil (point-max))))
          (push (list (buffer-substring-no-properties at end)
                      (get-text-property at 'hive-address)
                      (cl-loop for overlay in (overlays-in at end)
                               when (overlay-get overlay 'after-string)
                               return (substring-no-properties (overlay-get overlay 'after-string))))
                found)
          (setq at end)))
      (nreverse found))))

(ert-deftest hive-links-open-http-https-and-mailboxes ()
  (pcase-dolist (`(,text . ,found)
                 '(("see https://a.example/b?c=d#e." ("https://a.example/b?c=d#e" "https://a.example/b?c=d#e" nil))
                   ("(http://a.example:8080/b_(c))" ("http://a.example:8080/b_(c)" "http://a.example:8080/b_(c)" nil))
                   ("mailto:ada@a.example?attach=/etc/passwd" ("mailto:ada@a.example?attach=/etc/passwd"
                                                               "mailto:ada@a.example" nil))
                   ("<https://a.example>" ("https://a.example" "https://a.example" nil))
                   ("[the page](https://a.example/b)" ("[the page](https://a.example/b)" "https://a.example/b" nil))
                   ("HTTPS://A.Example/B" ("HTTPS://A.Example/B" "https://a.example/B" nil))
                   ("https://a.example/'$x`y" ("https://a.example/'$x" "https://a.example/%27%24x" nil))
                   ("https://a.example/K\u00E4se" ("https://a.example/K\u00E4se" "https://a.example/K%C3%A4se" nil))))
    (should (equal found (hive-links-test-found text)))))

(ert-deftest hive-links-nothing-else-is-a-button ()
  (dolist (text '("file:///etc/passwd" "elisp:(boom)" "javascript:boom()" "[a](javascript:boom())"
                  "[a](file:///etc/passwd)" "[a](elisp:(boom))" "data:text/html,x" "info:emacs" "ftp://a.example"
                  "https://" "https:///etc/passwd" "https://[::1]/" "https://a%2Fb/" "https://-a/" "mailto:" "mailto:a@"
                  "mailto:(boom)@a.example" "tramp:/ssh:a:" "https://\u202Ea" "xhttp:/a.example"))
    (should-not (hive-links-test-found text)))
  (should-not (hive-links-test-found (concat "https://a.example/" (make-string 1000 ?a))))
  (should-not (hive-links-test-found (concat "https://" (make-string 64 ?a) ".example"))))

(ert-deftest hive-links-show-where-they-lead-if-their-text-differs ()
  (pcase-dolist (`(,text ,address ,note)
                 '(("[https://bank.example/login](https://evil.example/)" "https://evil.example/" " → evil.example")
                   ("[www.bank.example](https://bank.example/)" "https://bank.example/" nil)
                   ("[bank.example](https://bank.example.evil.example/)" "https://bank.example.evil.example/"
                    " → bank.example.evil.example")
                   ("https://bank.example@evil.example/x" "https://evil.example/x" " → evil.example")
                   ("https://bank.example:443@evil.example" "https://evil.example" " → evil.example")
                   ;; A letter of another script; a word all of whose letters are, and a link to it.
                   ("https://p\u0430ypal.example/" "https://xn--pypal-4ve.example/" " → xn--pypal-4ve.example")
                   ("https://\u0430\u0440\u0440\u04CF\u0435.com/" "https://xn--80ak6aa92e.com/" " → xn--80ak6aa92e.com")
                   ("[apple.com](https://\u0430\u0440\u0440\u04CF\u0435.com/)" "https://xn--80ak6aa92e.com/"
                    " → xn--80ak6aa92e.com")
                   ("[apple.com](https://xn--80ak6aa92e.com/)" "https://xn--80ak6aa92e.com/" " → xn--80ak6aa92e.com")
                   ("https://bank.example\u2044evil.example/" "https://bank.example" nil)
                   ("https://bank.example\\@evil.example/" "https://bank.example" nil)))
    (should (equal (list address note) (cdar (hive-links-test-found text))))
    (should-not (cdr (hive-links-test-found text))))
  ;; Words so long that nobody looks for a host in them.
  (should (equal " → evil.example"
                 (nth 2 (car (hive-links-test-found (format "[%s bank.example](https://evil.example)" (make-string 300 ?a))))))))

(ert-deftest hive-links-open-only-what-the-human-confirms ()
  (let ((asked nil) (opened nil) (answer nil))
    (cl-letf (((symbol-function 'y-or-n-p) (lambda (text) (push text asked) answer))
              ((symbol-function 'browse-url) (lambda (address &rest _) (push address opened))))
      (with-temp-buffer
        (hive-prompt-mode)
        (setq hive-prompt--prompt
              (hive-test-prompt :question "See https://a.example/q" :context "[bank.example](https://evil.example/100%25)"
                                :options [(:label "yes" :description "as in https://b.example")]))
        (hive-prompt--print)
        (should-not (or asked opened))
        (goto-char (point-min))
        (dolist (text '("https://a" "https://b" "bank.example"))
          (re-search-forward (regexp-quote text))
          (push-button (match-beginning 0)))
        (should-not opened)
        (should (equal '("Visit evil.example?  https://evil.example/100%25 " "Visit b.example?  https://b.example "
                         "Visit a.example?  https://a.example/q ")
                       asked))
        (setq answer t)
        (push-button (match-beginning 0))
        (should (equal '("https://evil.example/100%25") opened))
        (should (equal "Visit https://evil.example/100%25" (get-text-property (match-beginning 0) 'help-echo)))))))

(ert-deftest hive-links-leave-diffs-and-options-alone ()
  (with-temp-buffer
    (hive-prompt-mode)
    (setq hive-prompt--prompt
          (hive-test-prompt :question "?" :options [(:label "https://a.example")]
                            :context "--- a\n+++ b\n@@ -1 +1 @@\n-https://a.example\n+https://b.example\n"))
    (hive-prompt--print)
    (should-not (text-property-not-all (point-min) (point-max) 'hive-address nil))))

(ert-deftest hive-links-are-bounded ()
  (let ((found (hive-links-test-found (apply #'concat (make-list 5000 "https://a.example ")))))
    (should (= hive-links--most (length found))))
  (let ((found (hive-links-test-found (apply #'concat (make-list 500 "https://\u0436\u0436.example ")))))
    (should (= hive-links--most-odd (length found)))))
