;;; hive-text-test.el --- Text from agents is harmless  -*- lexical-binding: t; -*-

;; Tags: untrusted

(require 'hive-test-help)

(ert-deftest hive-text-hidden-characters-become-visible ()
  (should (equal (hive-text-inert "a\u0000b\ec\u202Ed\u200Be\u007F")
                 "a^@b^[c<U+202E>d<U+200B>e^?"))
  (should (equal (hive-text-inert "a\u0085\u009Bb") "a<U+0085><U+009B>b"))
  (should (equal (hive-text-inert "tabs\tand\nlines stay; ä, 漢字, עברית, 🐝 too")
                 "tabs\tand\nlines stay; ä, 漢字, עברית, 🐝 too")))

(ert-deftest hive-text-letters-of-another-script-become-visible-in-a-word ()
  (should (equal (hive-text-inert "D\u0435ny, sc\u043E_pe; \u043F\u0430\u0440a \u03BCm")
                 "D<U+0435>ny, sc<U+043E>_pe; \u043F\u0430\u0440<U+0061> <U+03BC>m"))
  (should (equal (hive-text-line "D\u0435ny") "D<U+0435>ny"))
  ;; A text that is already spelled out is unchanged.
  (should (equal (hive-text-inert (hive-text-inert "D\u0435ny")) "D<U+0435>ny"))
  (dolist (honest '("rm -rf /tmp" "東京abc デモtest" "git-\u043E\u043C" "\u0434\u0430 \u03B1\u03B2 ja"
                    "na\u00EFve e\u0301t\u00E9_1"))
    (should (equal (hive-text-inert honest) honest))))

(ert-deftest hive-text-properties-are-dropped ()
  (let ((text (hive-text-inert (propertize "x" 'display "y" 'invisible t 'keymap (make-sparse-keymap)))))
    (should (equal-including-properties text "x")))
  (should (equal-including-properties (hive-text-line (propertize "x" 'display "y")) "x")))

(ert-deftest hive-text-line-is-one-line-of-bounded-width ()
  (should (equal (hive-text-line " one\n two\r\n\tthree ") "one two three"))
  (should (equal (hive-text-line "abcdefghij" 5) "abcd…"))
  (should (<= (string-width (hive-text-line (make-string 8000 ?漢) 40)) 40))
  (should (equal (hive-text-line nil) ""))
  (should (equal (hive-text-line :json-false 10) "")))

(ert-deftest hive-text-an-agent-is-named-with-its-source ()
  (should (equal '(nil nil "bg" "fork")
                 (mapcar (lambda (source) (hive-text-source-label (list :source source)))
                         '(nil "main" "bg" "fork"))))
  (should (equal '("Codex-1" "[bg] Codex-1" "[fork] Codex-1")
                 (mapcar (lambda (source) (hive-text-agent (list :source source :agent "Codex-1")))
                         '("main" "bg" "fork")))))

(ert-deftest hive-text-characters-that-json-cannot-hold-are-replaced ()
  (let ((text (concat "a" (string #xD800) "b" (string #x3FFF80) "c\0")))
    (should (equal (hive-text-sendable text) "a\uFFFDb\uFFFDc\uFFFD"))
    (should (json-serialize (list :a (hive-text-sendable text))))))

(ert-deftest hive-text-of-agents-is-wrapped-between-words-and-its-brackets-are-not-paired ()
  ;; The list of completions, whose mode drops what was set before.
  (with-temp-buffer
    (let ((list (current-buffer)) (minibuffer (generate-new-buffer " *minibuffer*")))
      (unwind-protect
          (cl-letf (((symbol-function 'minibufferp) #'always))
            (dolist (table (list (hive-read-table '(("yes" . "yes")) 'hive-option #'identity)
                                 (hive-model-handle-table)))
              (with-current-buffer minibuffer
                (kill-local-variable 'completion-setup-hook)
                (funcall table "" nil 'metadata)
                (let ((standard-output list)) (run-hooks 'completion-setup-hook)))
              (should (derived-mode-p 'completion-list-mode))
              (should word-wrap)
              (should bidi-inhibit-bpa)))
        (kill-buffer minibuffer)))
    (should-not (memq #'hive-text--set-up-list (default-value 'completion-setup-hook))))
  ;; The echo area, also where a question takes most of the frame.
  (let ((echo (get-buffer-create " *Echo Area 0*")))
    (with-current-buffer echo (kill-local-variable 'bidi-inhibit-bpa))
    (hive-display-draw "((((")
    (should (buffer-local-value 'bidi-inhibit-bpa echo))
    (should-not bidi-inhibit-bpa)))

(ert-deftest hive-text-rules-are-rows-that-n-and-p-go-to-and-headings-are-passed ()
  (with-temp-buffer
    (hive-rules-mode)
    (setq hive-rules--list '(:path "/x" :rules [(:rule_id "1" :decision "allow" :tool "Bash")
                                                (:rule_id "2" :decision "deny" :tool "Edit")]
                                   :proposals [(:key "p" :allowed 3 :draft (:decision "allow" :tool "Read"))]))
    (hive-rules--print)
    ;; Its last column is a whole word.
    (should (string-match-p "Bash +every project +" (buffer-string)))
    (cl-flet ((go (command) (condition-case oops (progn (funcall command) (line-number-at-pos)) (user-error (cadr oops)))))
      (should (= 2 (line-number-at-pos)))
      (should (equal '(6 7 "This is the last one") (mapcar #'go (make-list 3 #'hive-part-next))))
      (should (equal '(6 2 "This is the first one") (mapcar #'go (make-list 3 #'hive-part-previous))))
      (search-forward "Rules in")
      (should (= 2 (go #'hive-part-previous))))))

(ert-deftest hive-text-times-are-short ()
  (should (= (hive-text-seconds "1970-01-01T00:01:00.000Z") 60.0))
  (should-not (hive-text-seconds "soon"))
  (should-not (hive-text-seconds nil))
  (should (equal (mapcar #'hive-text-duration '(-3 0 59 60 3599 3600 86400 172800))
                 '("0s" "0s" "59s" "1m" "59m" "1h" "24h" "2d")))
  (cl-letf (((symbol-function 'hive-now) (lambda () 1800000000.25)))
    (should (equal "2027-01-15T08:00:00.250Z" (hive-text-now)))
    (should (equal "2027-01-15T07:59:00.250Z" (hive-text-before 60)))))

(ert-deftest hive-text-values-of-the-sidecar-are-shown-in-words ()
  (should (equal "answered" (hive-text-value "responded" 20)))
  (should (equal "the command line" (hive-text-value "cli" 20)))
  ;; A newer sidecar may have others, and a hostile one anything.
  (should (equal "postponed" (hive-text-value "postponed" 20)))
  (should (equal "a b" (hive-text-value "a\nb" 20)))
  (should (equal "" (hive-text-value nil 20)))
  (should (equal "Ada, unattested" (hive-text-by '(:by "Ada" :attested :json-false) 20))))

(ert-deftest hive-text-a-row-shows-the-end-of-a-path ()
  (pcase-dolist (`(,text . ,shown)
                 '(("Change /home/ada/shop/src/delivery.js?" . "Change src/delivery.js?")
                   ("Change /home/ada/shop/src/a/very/deeply/nested/folder/of/files/delivery.js?"
                    . "Change …/nested/folder/of/files/delivery.js?")
                   ("Run cp /etc/hosts \"/home/ada/shop/hosts\"?" . "Run cp /etc/hosts \"hosts\"?")
                   ("Run /home/ada/shopping/x?" . "Run /home/ada/shopping/x?")
                   ;; The host of an address must not be left out.
                   ("Fetch https://example.com/a/very/long/path/to/some/thing/or/other?"
                    . "Fetch https://example.com/a/very/long/path/to/some/thing/or/other?")
                   ("yes/no?" . "yes/no?")))
    (should (equal shown (hive-text-question (list :question text :project_dir "/home/ada/shop/.git") 200))))
  (should (equal "Change /home/ada/shop/a?" (hive-text-question '(:question "Change /home/ada/shop/a?") 200))))

(ert-deftest hive-text-a-link-is-the-same-behind-another-age ()
  (with-temp-buffer
    (cl-letf* ((age "2m ago  ")
               ((symbol-function 'hive-text-test-print)
                (lambda ()
                  (hive-text-part 'one
                    (insert age)
                    (insert-text-button "https://example.com" 'hive-address "https://example.com")
                    (insert "\n")))))
      (hive-text-test-print)
      (goto-char 12)
      (setq age "10m ago  ")
      (hive-text-reprint #'hive-text-test-print)
      (should (= 12 (point)))
      (goto-char (point-min))
      (search-forward "10m")
      (hive-text-reprint #'hive-text-test-print)
      (should (= 4 (point))))))
