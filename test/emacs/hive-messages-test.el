;;; hive-messages-test.el --- The table of sentences  -*- lexical-binding: t; -*-

(require 'bytecomp)
(require 'ert)
(require 'hive-messages)
(require 'hive-test-help)
(load (expand-file-name "../../scripts/sentences.el" hive-test-directory) nil t)

(defun hive-messages-test-warnings (form)
  "Return what the compiler warns about in FORM."
  (let* ((warnings nil)
         (byte-compile-log-warning-function (lambda (text &rest _) (push text warnings)))
         (inhibit-message t))
    (byte-compile `(lambda (name) (ignore name) ,form))
    warnings))

(ert-deftest hive-marks-are-those-that-the-terminal-can-show ()
  (should (equal "✓ … → a" (hive-words "✓ … → %s" "a")))
  (cl-letf (((symbol-function 'char-displayable-p) (lambda (char) (< char 128))))
    (should (equal "* ... -> …" (hive-words "✓ … → %s" "…")))
    (should (equal "Loading..." (hive-words 'loading)))
    (should (equal "abc..." (hive-text-line "abcdefg" 6)))
    ;; Each mark that the sources have outside of comments is known.
    (dolist (file (directory-files hive-program-directory t "\\`hive-.*\\.el\\'"))
      (unless (string-match-p "hive-names" file)
        (with-temp-buffer
          (insert-file-contents file)
          (goto-char (point-min))
          (while (re-search-forward "[^[:ascii:]]" nil t)
            (when (and (nth 3 (save-match-data (syntax-ppss))) (not (string-match-p "[-–—]" (match-string 0))))
              (should (not (equal (match-string 0) (hive-mark (match-string 0))))))))))))

(ert-deftest hive-messages-fill-a-sentence-in ()
  (should (equal "Answered reviewer: 100% (stored)" (hive-words 'answered "reviewer" "100%")))
  (should (equal "You have no recent answers to correct"
                 (cadr (should-error (hive-fail "You have no recent answers to correct")
                                     :type 'user-error)))))

(ert-deftest hive-messages-keymaps-say-in-which-mode-their-own-commands-are-offered ()
  (dolist (command '(hive-list-mark hive-list-fold hive-list-choose-view))
    (should (equal '(hive-list-mode) (command-modes command))))
  (should (equal '(hive-rules-mode) (command-modes #'hive-rules-revoke)))
  (should (equal '(hive-prompt-mode) (command-modes #'hive-prompt-choose)))
  ;; They are in these keymaps, too, but of use everywhere.
  (dolist (command '(hive-undo hive-history hive-phone revert-buffer))
    (should-not (command-modes command))))

(ert-deftest hive-messages-commands-of-a-mode-change-no-other-buffer ()
  (let (commands)
    (dolist (map (list hive-batch-mode-map hive-check-mentions-mode-map hive-compose-mode-map
                       hive-history-mode-map hive-list-mode-map hive-outreach-mode-map
                       hive-phone-mode-map hive-phone-list-mode-map hive-prompt-mode-map
                       hive-rule-mode-map hive-rules-mode-map hive-shared-mode-map hive-stats-mode-map))
      (map-keymap (lambda (_ command)
                    (when (and (symbolp command)
                               (advice-member-p #'hive-messages--in-its-mode command))
                      (cl-pushnew command commands)))
                  (keymap-canonicalize map)))
    (should (> (length commands) 60))
    (with-temp-buffer
      (text-mode)
      (insert "my own text")
      (cl-letf (((symbol-function 'read-from-minibuffer) (lambda (&rest _) (error "It asked for something"))))
        (dolist (command commands)
          (ert-info ((symbol-name command))
            (let ((this-command command)) (should-error (call-interactively command) :type 'user-error))
            (should (equal "my own text" (buffer-string))))))))
  (should (equal "hive-history-again works only in a buffer in hive-history-mode"
                 (cadr (should-error (let ((this-command 'hive-history-again))
                                       (call-interactively 'hive-history-again)))))))

(ert-deftest hive-messages-name-the-keys-that-are-bound ()
  (let ((before (lookup-key global-map (kbd "C-c h"))))
    (unwind-protect
        (progn
          (should (equal "Try M-x hive-list, 100%"
                         (substring-no-properties (hive-words "Try M-x hive-list, %d%%" 100))))
          (global-set-key (kbd "C-c h") (let ((map (make-sparse-keymap)))
                                          (define-key map "%" #'hive-list)
                                          map))
          (should (equal "Try C-c h %, 100%; not M-x hive-doctor"
                         (substring-no-properties
                          (hive-words "Try M-x hive-list, %d%%; not M-x hive-doctor" 100))))
          ;; An agent's text stays as it is.
          (should (equal "M-x hive-list" (hive-words "%s" "M-x hive-list")))
          ;; A key of this buffer is none where the sentence may be read.
          (with-temp-buffer
            (local-set-key "x" #'hive-doctor)
            (should (equal "Try M-x hive-doctor" (substring-no-properties (hive-words "Try M-x hive-doctor"))))))
      (global-set-key (kbd "C-c h") (if (numberp before) nil before)))))

(ert-deftest hive-messages-name-each-sentence-once ()
  (let ((names (mapcar #'car hive-messages)))
    (should (equal names (delete-dups (copy-sequence names))))))

(defun hive-messages-test-all ()
  "Return every sentence: conses of where it is and the sentence."
  (append hive-messages
          (cl-mapcan (lambda (file)
                       (mapcar (lambda (sentence)
                                 (cons (format "%s:%d" file (car sentence)) (cdr sentence)))
                               (sentences-in file)))
                     (directory-files (file-name-directory (locate-library "hive-messages"))
                                      t "\\.el\\'"))))

(ert-deftest hive-messages-take-text-and-numbers-only ()
  "The compiler counts these two directives."
  (let ((all (hive-messages-test-all)))
    (should (> (length all) 500))
    (dolist (message all)
      (ert-info ((format "%s" (car message)))
        (should-not (string-match-p "%[^sd]" (cdr message)))))))

(ert-deftest hive-messages-are-said-in-one-place-or-have-a-name ()
  (let ((seen (make-hash-table :test #'equal)))
    (dolist (message (hive-messages-test-all))
      (let ((sentence (cdr message)))
        ;; A short label may be that of two columns.
        (when (> (length sentence) 24)
          (ert-info ((format "%s and %s: %S" (gethash sentence seen) (car message) sentence))
            (should-not (gethash sentence seen)))
          (puthash sentence (car message) seen))))))

(ert-deftest hive-messages-are-plain-english ()
  (pcase-dolist (`(,key ,args ,sentence)
                 '((no-answer ("still pending") "No answer given; still pending")
                   (snoozed ("reviewer" "30 minutes") "Snoozed reviewer for 30 minutes")))
    (should (equal sentence (apply #'hive-words key args))))
  (dolist (folder '("elisp" "src"))
    (dolist (file (directory-files-recursively
                   (expand-file-name (concat "../../" folder) (file-name-directory (locate-library "hive-test-help")))
                   "\\.\\(?:el\\|ts\\)\\'"))
      (with-temp-buffer
        (insert-file-contents file)
        (ert-info (file)
          (should-not
           (re-search-forward (concat "Nothing was said\\|Put away for\\|Back again\\|waits for nothing\\|all of it, in a buffer"
                                      "\\|Answer which of\\|dealt with already\\|are denied with\\|agent reads them")
                              nil t)))))))

(ert-deftest hive-messages-not-in-the-table-are-an-error ()
  (should-error (hive-words (intern "no-such-sentence"))))

(ert-deftest hive-messages-the-compiler-finds-a-wrong-use ()
  (should-not (hive-messages-test-warnings '(hive-say 'answered name "yes")))
  (should-not (hive-messages-test-warnings '(hive-say "%s of %d" name 3)))
  (should (hive-messages-test-warnings '(hive-say "%s of %d" name)))
  (should (hive-messages-test-warnings '(hive-say 'no-such-sentence)))
  (should (hive-messages-test-warnings '(hive-fail 'answered name))))

(ert-deftest hive-messages-count-in-the-singular-and-the-plural ()
  (should (equal '("0 questions" "1 question" "2 questions" "1 entry" "2 entries")
                 (list (hive-count 0 "question") (hive-count 1 "question") (hive-count 2 "question")
                       (hive-count 1 "entry" "entries") (hive-count 2 "entry" "entries")))))
